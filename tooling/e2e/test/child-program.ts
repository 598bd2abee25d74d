import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

/** A bundled TypeScript program. The oldest supported Node runs no TypeScript. */
export interface ChildProgram extends AsyncDisposable {
  /** The path of the bundle, for callers that start it themselves. */
  readonly path: string
  /** Runs the program with a JSON value as its input, and resolves to its JSON output. Rejects if it fails. */
  run(input: unknown): Promise<unknown>
}

/** The bundles of this process, by their sources. Several test files use the same program. */
const outputs = new Map<string, Promise<string>>()

/** Bundles a program, once for all test files of a process. */
export async function bundleProgram(source: URL): Promise<ChildProgram> {
  const entry = fileURLToPath(source)
  const bundled = outputs.get(entry) ?? bundleText(entry)
  outputs.set(entry, bundled)
  // Each caller has a copy of its own, because tests find the processes that they started by its path.
  const folder = await mkdtemp(join(tmpdir(), 'e2e-'))
  const path = join(folder, 'program.cjs')
  await writeFile(path, await bundled)
  return {
    path,
    run: (input) => runNode(path, JSON.stringify(input)),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

async function bundleText(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
  })
  const [output] = outputFiles
  if (output === undefined) throw new Error(`esbuild made no bundle of ${entry}`)
  return output.text
}

function runNode(program: string, input: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'pipe'] })
    const printed = { out: '', err: '' }
    child.stdout.setEncoding('utf8').on('data', (text: string) => (printed.out += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (printed.err += text))
    child.once('error', reject)
    child.once('close', (code) => {
      if (code === 0) resolve(JSON.parse(printed.out))
      else reject(new Error(`the program ended with code ${code}: ${printed.err}`))
    })
    child.stdin.end(input)
  })
}
