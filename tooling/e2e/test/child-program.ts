import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
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

/** Bundles a program. */
export async function bundleProgram(source: URL): Promise<ChildProgram> {
  const folder = await mkdtemp(join(tmpdir(), 'e2e-'))
  const outfile = join(folder, 'program.cjs')
  const entry = fileURLToPath(source)
  await build({ entryPoints: [entry], bundle: true, outfile, format: 'cjs', platform: 'node', target: 'node20' })
  return {
    path: outfile,
    run: (input) => runNode(outfile, JSON.stringify(input)),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
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
