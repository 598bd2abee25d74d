import { parseArgs } from 'node:util'

const benchmarks: ReadonlyMap<string, () => Promise<{ readonly run: (options: { quick: boolean }) => Promise<void> }>> =
  new Map([
    ['asks', () => import('./asks/run.ts')],
    ['auth', () => import('./auth.ts')],
    ['bridges', () => import('./bridges/run.ts')],
    ['bundle', () => import('./bundle.ts')],
    ['client', () => import('./client/run.ts')],
    ['codec', () => import('./codec.ts')],
    ['cold', () => import('./cold.ts')],
    ['fetch', () => import('./fetch/run.ts')],
    ['gate', () => import('./gate.ts')],
    ['gateway', () => import('./gateway/run.ts')],
    ['growth', () => import('./growth/run.ts')],
    ['hop', () => import('./hop/run.ts')],
    ['http', () => import('./http/run.ts')],
    ['idle', () => import('./idle.ts')],
    ['installed', () => import('./installed.ts')],
    ['list', () => import('./list/run.ts')],
    ['memory', () => import('./memory.ts')],
    ['parse', () => import('./parse.ts')],
    ['peers', () => import('./peers/run.ts')],
    ['ratios', () => import('./ratios.ts')],
    ['rounds', () => import('./rounds/run.ts')],
    ['sessions', () => import('./sessions.ts')],
    ['shedding', () => import('./shedding.ts')],
    ['stdio', () => import('./stdio.ts')],
    ['stream', () => import('./stream/run.ts')],
    ['subscriptions', () => import('./subscriptions.ts')],
    ['suspended', () => import('./suspended.ts')],
    ['tasks', () => import('./tasks/run.ts')],
    ['telemetry', () => import('./telemetry/run.ts')],
    ['types', () => import('./types.ts')],
    ['workload', () => import('./workload/run.ts')],
  ])

const { values, positionals } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  allowPositionals: true,
  options: { quick: { type: 'boolean', default: false } },
})
const [name = '', ...rest] = positionals
const load = benchmarks.get(name)
if (load === undefined || rest.length > 0) {
  const known = [...benchmarks.keys()].join(', ')
  process.stderr.write(`pnpm bench <name> [--quick], where <name> is one of: ${known}\n`)
  process.exitCode = 2
} else {
  const { run } = await load()
  await run({ quick: values.quick })
}
