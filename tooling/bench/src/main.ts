import { parseArgs } from 'node:util'
import type { Programs } from './processes.ts'
import { type RatioBenchmark, runBenchmarks } from './ratios.ts'

/** A file has a benchmark, ratios, or programs that others start. */
interface File {
  readonly run?: (options: { readonly quick: boolean }) => Promise<void>
  readonly ratios?: readonly RatioBenchmark[] | undefined
  readonly programs?: Programs
}

const http = ['fetch', 'gateway', 'hop', 'http', 'list', 'rounds', 'stream'].map((name) => {
  const load = async (): Promise<File> => ({ ratios: (await import('./http.ts')).httpRatios.get(name) })
  return [name, load] as const
})

const benchmarks: ReadonlyMap<string, () => Promise<File>> = new Map<string, () => Promise<File>>([
  ...http,
  ['asks', () => import('./asks.ts')],
  ['bridges', () => import('./bridges.ts')],
  ['bundle', () => import('./bundle.ts')],
  ['codec', () => import('./codec.ts')],
  ['cold', () => import('./cold.ts')],
  ['gate', () => import('./gate.ts')],
  ['growth', () => import('./growth.ts')],
  ['installed', () => import('./installed.ts')],
  ['peers', () => import('./peers.ts')],
  ['sessions', () => import('./sessions.ts')],
  ['stdio', () => import('./stdio.ts')],
  ['telemetry', () => import('./telemetry.ts')],
  ['types', () => import('./types.ts')],
  ['waiting-users', () => import('./waiting-users.ts')],
  ['workload', () => import('./workload.ts')],
])

/** The files with programs alone. */
const programFiles: typeof benchmarks = new Map<string, () => Promise<File>>([
  ['by-hand', () => import('./by-hand.ts')],
  ['floors', () => import('./floors.ts')],
  ['flow', () => import('./flow.ts')],
  ['growth-tasks', () => import('./growth-tasks.ts')],
  ['load', () => import('./load.ts')],
  ['memory', () => import('./memory.ts')],
  ['official-v1', () => import('./official-v1.ts')],
  ['official-v2', () => import('./official-v2.ts')],
  ['our-servers', () => import('./our-servers.ts')],
  ['streams', () => import('./streams.ts')],
  ['workload-calls', () => import('./workload-calls.ts')],
])

const { values, positionals } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  allowPositionals: true,
  options: { quick: { type: 'boolean', default: false }, program: { type: 'string' } },
})
const [name = '', ...rest] = positionals
const file = values.program === undefined && rest.length === 0 ? await benchmarks.get(name)?.() : undefined
if (values.program !== undefined) await runProgram(values.program, positionals)
else if (file?.run !== undefined) await file.run(values)
else if (file?.ratios !== undefined) await runBenchmarks(file.ratios, values)
else {
  const names = [...benchmarks.keys()].toSorted().join(', ')
  process.stderr.write(`pnpm bench <name> [--quick], where <name> is one of: ${names}\n`)
  process.exitCode = 2
}

/** Runs a program of a file, such as `our-servers/tools/500`, where 500 is its argument. */
async function runProgram(path: string, more: readonly string[]): Promise<void> {
  const [file = '', program = '', ...given] = path.split('/')
  const { programs } = (await (benchmarks.get(file) ?? programFiles.get(file))?.()) ?? {}
  const start = programs?.[program]
  if (start === undefined) throw new Error(`no program ${path}: add it to programs of its file`)
  await start(...given, ...more)
}
