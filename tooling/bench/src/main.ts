import { parseArgs } from 'node:util'
import type { HttpName } from './http.ts'
import type { Programs } from './processes.ts'

interface File {
  readonly run?: (options: { readonly quick: boolean }) => Promise<void>
  readonly programs?: Programs
}

const runHttp = (name: HttpName) => async (): Promise<File> => ({
  run: async (options) => (await import('./http.ts')).runHttp(name, options),
})

const benchmarks: ReadonlyMap<string, () => Promise<File>> = new Map<string, () => Promise<File>>([
  ['asks', () => import('./asks.ts')],
  ['bridges', () => import('./bridges.ts')],
  ['bundle', () => import('./bundle.ts')],
  ['codec', () => import('./codec.ts')],
  ['cold', () => import('./cold.ts')],
  ['fetch', runHttp('fetch')],
  ['gate', () => import('./gate.ts')],
  ['gateway', runHttp('gateway')],
  ['growth', () => import('./growth.ts')],
  ['hop', runHttp('hop')],
  ['http', runHttp('http')],
  ['installed', () => import('./installed.ts')],
  ['list', runHttp('list')],
  ['peers', () => import('./peers.ts')],
  ['rounds', runHttp('rounds')],
  ['sessions', () => import('./sessions.ts')],
  ['stdio', () => import('./stdio.ts')],
  ['stream', runHttp('stream')],
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
const { run } = (rest.length === 0 && (await benchmarks.get(name)?.())) || {}
if (values.program !== undefined) await runProgram(values.program, positionals)
else if (run !== undefined) await run(values)
else {
  process.stderr.write(`pnpm bench <name> [--quick], where <name> is one of: ${[...benchmarks.keys()].join(', ')}\n`)
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
