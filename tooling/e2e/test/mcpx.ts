import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isJsonObject, type JsonObject } from '@x/schema'
import { build } from 'esbuild'

/** The command `mcpx` as a bundled program. */
export interface Mcpx extends AsyncDisposable {
  readonly path: string
  /** Runs a command line with `--json`, and resolves to its exit code and its output. */
  run(...args: readonly string[]): Promise<McpxResult>
  /** The same for a person, whose configuration is in a folder. */
  runAs(configFolder: string, ...args: readonly string[]): Promise<McpxResult>
}

interface McpxResult {
  readonly code: number | null
  readonly json: JsonObject
  readonly err: string
}

/** The bundle of this process. Several test files use the command. */
let bundled: ReturnType<typeof bundleMcpx> | undefined

/** Bundles the program, once for all test files of a process. Each caller has a copy of its own. */
export async function buildMcpx(): Promise<Mcpx> {
  bundled ??= bundleMcpx()
  const folder = await mkdtemp(join(tmpdir(), 'e2e-mcpx-'))
  await mkdir(join(folder, 'dist'))
  await writeFile(join(folder, 'package.json'), '{ "version": "0.0.0" }')
  const files = (await bundled).outputFiles
  await Promise.all(files.map(({ path, contents }) => writeFile(join(folder, 'dist', basename(path)), contents)))
  const path = join(folder, 'dist', 'mcpx.mjs')
  return {
    path,
    run: (...args) => runProgram(path, [...args, '--json'], {}),
    runAs: (configFolder, ...args) => runProgram(path, [...args, '--json'], { XDG_CONFIG_HOME: configFolder }),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

/** Bundled CommonJS packages call `require`, so the banner defines it. */
const bundleMcpx = () =>
  build({
    entryPoints: [fileURLToPath(new URL('./mcpx.ts', import.meta.resolve('@x/cli/terminal')))],
    bundle: true,
    write: false,
    outdir: 'dist',
    outExtension: { '.js': '.mjs' },
    // As in the published package, the code of a command is loaded when the command runs.
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    external: ['pg', 'pg-native', '@electric-sql/pglite', '@redis/client', 'ts-morph'],
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)" },
  })

function runProgram(path: string, args: readonly string[], more: NodeJS.ProcessEnv): Promise<McpxResult> {
  return new Promise((resolve) => {
    const printed = { out: '', err: '' }
    const child = execFile(process.execPath, [path, ...args], { env: { PATH: process.env['PATH'], ...more } })
    child.stdout?.on('data', (text: string) => (printed.out += text))
    child.stderr?.on('data', (text: string) => (printed.err += text))
    child.once('close', (code) => {
      const value: unknown = printed.out === '' ? {} : JSON.parse(printed.out)
      resolve({ code, json: isJsonObject(value) ? value : {}, err: printed.err })
    })
  })
}
