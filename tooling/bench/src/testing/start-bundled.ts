import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll } from 'vitest'

const folder = fileURLToPath(new URL('../', import.meta.url))

/** Bundles a program of a file of this package from the sources before the tests, and returns a function with its path. */
export function bundledProgram(file: string, program: string): () => string {
  let temporary = ''
  beforeAll(async () => {
    temporary = await mkdtemp(join(tmpdir(), 'bench-program-'))
    const contents = `import { programs } from './${file}.ts'\nvoid programs.${program}(...process.argv.slice(2))`
    const stdin = { contents, resolveDir: folder, loader: 'ts' as const }
    const outfile = join(temporary, 'program.cjs')
    const external = ['@modelcontextprotocol/*']
    await build({ stdin, bundle: true, outfile, external, format: 'cjs', platform: 'node', logLevel: 'error' })
  })
  afterAll(() => rm(temporary, { recursive: true, force: true }))
  return () => join(temporary, 'program.cjs')
}

/** Starts a bundled program in its own process, whose heap has no other data, without the Node options of vitest. */
export function startBundled(path: string, args: readonly string[]): ChildProcess {
  return fork(path, args, { execArgv: [] })
}

/** Asks a program a question. */
export async function askBundled<Answer>(child: ChildProcess, question: object | string): Promise<Answer> {
  child.send(question)
  const [answer] = await once(child, 'message')
  // The program belongs to this package, and sends a value of the type that the caller names.
  return answer as Answer
}

/**
 * Returns the smallest growth between consecutive measurements of a heap, in bytes. Code that is compiled late, or a
 * hash table that doubles, makes one step large. A leak makes every step large.
 *
 * @throws RangeError for fewer than two measurements.
 */
export function minGrowth(heaps: readonly number[]): number {
  if (heaps.length < 2) throw new RangeError(`growth needs two measurements of a heap, and there are ${heaps.length}`)
  return Math.min(...heaps.slice(1).map((heap, index) => heap - (heaps[index] ?? 0)))
}
