import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { programOf } from './programs.ts'
import { folder, type RunningProgram, startProgram } from './start-program.ts'

/** A worker, and its bindings, which are texts. */
export interface WorkerSource {
  readonly entry: string
  readonly bindings: Readonly<Record<string, string>>
}

/** Starts workerd with the worker and these compatibility flags; `announced` is its port. */
export async function startWorkerd(
  flags: readonly string[],
  { entry, bindings }: WorkerSource = { entry: 'src/workers/worker.ts', bindings: {} },
): Promise<RunningProgram> {
  const directory = await mkdtemp(join(tmpdir(), 'workerd-'))
  await build({
    absWorkingDir: folder,
    entryPoints: [entry],
    nodePaths: [join(folder, 'node_modules')],
    outfile: join(directory, 'worker.js'),
    bundle: true,
    format: 'esm',
    platform: 'browser',
    conditions: ['workerd', 'worker'],
    logLevel: 'silent',
  })
  const config = join(directory, 'config.capnp')
  await writeFile(config, configOf(flags, bindings))
  const command = { program: programOf('workerd'), args: ['serve', '--control-fd=3', config] }
  const running = await startProgram(command, /"socket":"http","port":(\d+)/, 3)
  return {
    announced: running.announced,
    terminate: () => running.terminate(),
    async [Symbol.asyncDispose]() {
      await running[Symbol.asyncDispose]()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

function configOf(flags: readonly string[], bindings: WorkerSource['bindings']): string {
  const texts = Object.entries(bindings).map(([name, text]) => `(name = "${name}", text = ${JSON.stringify(text)})`)
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "worker", esModule = embed "worker.js")],
      compatibilityDate = "2026-07-28",
      compatibilityFlags = [${flags.map((flag) => JSON.stringify(flag)).join(', ')}],
      bindings = [${texts.join(', ')}],
      globalOutbound = "network",
    )),
    (name = "network", network = (allow = ["local", "private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`
}
