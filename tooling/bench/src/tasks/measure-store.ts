import { openBossRunner } from './boss-runner.ts'
import {
  type Latencies,
  type Load,
  measureResumptions,
  measureStarts,
  measureThroughput,
  type Throughput,
} from './measure.ts'
import { latencyLines, roundTripLines, startColumns, throughputLines } from './report.ts'
import { measureRoundTrips, type RoundPlan, type RoundTrip } from './round-trips.ts'
import { type Implementation, reference } from './runner.ts'
import type { Store } from './stores.ts'
import { openTaskRunner } from './task-runner.ts'

/** The amounts of a measurement. */
export interface Plan {
  readonly rounds: number
  /** The load of the measurement of tasks per second. */
  readonly load: Load
  /** The limits of concurrent tasks per worker. Only the measurement of tasks per second uses those after the first. */
  readonly concurrencies: readonly [number, ...number[]]
  /** The loads of the measurements of latency in each round. */
  readonly latencies: readonly Load[]
  readonly trips: Omit<RoundPlan, 'concurrency'>
  readonly signal?: AbortSignal | undefined
}

const trips = { calls: 200, milliseconds: 500, pollIntervalMs: 1000 }

/** The default plan. The first concurrency is the default of servers. */
export const fullPlan: Plan = {
  rounds: 7,
  load: { count: 300, clients: 16 },
  concurrencies: [16, 64],
  latencies: [
    { count: 60, clients: 1 },
    { count: 160, clients: 16 },
  ],
  trips,
}

/** The plan for `--quick`. */
export const quickPlan: Plan = {
  rounds: 2,
  load: { count: 60, clients: 16 },
  concurrencies: [16],
  latencies: [
    { count: 20, clients: 1 },
    { count: 32, clients: 16 },
  ],
  trips: { ...trips, milliseconds: 200 },
}

/** The plan of the warm-up, which compiles all code before the measurement. */
export const warmUpPlan: Plan = {
  ...quickPlan,
  rounds: 1,
  load: fullPlan.load,
  trips: { ...trips, pollIntervalMs: 10 },
}

/** Measures one store, and yields the lines of the report. */
export async function* measureStore(store: Store, plan: Plan): AsyncGenerator<string, void, undefined> {
  for (const concurrency of plan.concurrencies) yield* throughput(store, plan, concurrency)
  for (const load of plan.latencies) yield* latencies(store, plan, load)
  const { rounds, trips, concurrencies } = plan
  const measured: (readonly RoundTrip[])[] = []
  for (let round = 0; round < rounds; round += 1) {
    plan.signal?.throwIfAborted()
    measured.push(await measureRoundTrips(store, { ...trips, concurrency: concurrencies[0] }))
  }
  yield* roundTripLines('one call, to its result', measured)
}

async function* throughput(store: Store, plan: Plan, concurrency: number): AsyncGenerator<string, void, undefined> {
  const { rounds, load, signal } = plan
  const implementations = implementationsOf(store, [users, 1])
  const measured: (readonly Throughput[])[] = []
  for (let round = 0; round < rounds; round += 1) {
    const options = { implementations, round, signal }
    measured.push(await measureRound(options, (implementation) => measureThroughput(implementation, load, concurrency)))
  }
  yield* throughputLines(`created and done, ${concurrency} at once`, measured)
}

async function* latencies(store: Store, plan: Plan, load: Load): AsyncGenerator<string, void, undefined> {
  const { rounds, signal, concurrencies } = plan
  const [concurrency] = concurrencies
  const implementations = implementationsOf(store, [users])
  const open = (options: { readonly concurrency: number }) => openTaskRunner(store.openEngine, { ...options, users })
  const starts: (readonly Latencies[])[] = []
  const resumptions: (readonly number[])[] = []
  for (let round = 0; round < rounds; round += 1) {
    const options = { implementations, round, signal }
    starts.push(await measureRound(options, (implementation) => measureStarts(implementation, load, concurrency)))
    resumptions.push(await measureResumptions(open, load, concurrency))
  }
  const { fromSending, fromAnswer } = startColumns(starts)
  const under = load.clients === 1 ? 'one at a time' : `${load.clients} in flight`
  const boss = fromSending.find(({ name }) => name === reference)
  yield* latencyLines(`sent to start, ${under}`, fromSending, boss)
  // These values may be 0 or negative, so no ratio is formed.
  yield* latencyLines(`answered to start, ${under}`, fromAnswer)
  yield* latencyLines(`answer to resumption, ${under}`, [{ name: 'tasks', rounds: resumptions }], boss)
}

/** The number of users of the clients. */
const users = 16

interface Round {
  readonly implementations: readonly Implementation[]
  readonly round: number
  readonly signal: AbortSignal | undefined
}

/** Measures each implementation, in reverse order in every other round. The result has a fixed order. */
async function measureRound<T>(
  { implementations, round, signal }: Round,
  measure: (implementation: Implementation) => Promise<T>,
): Promise<readonly T[]> {
  const measured: T[] = []
  for (const implementation of round % 2 === 0 ? implementations : implementations.toReversed()) {
    signal?.throwIfAborted()
    measured.push(await measure(implementation))
  }
  return round % 2 === 0 ? measured : measured.reverse()
}

/** Returns our tasks once per number of users, and pg-boss where the store supports it. */
function implementationsOf({ openEngine, openBoss }: Store, userCounts: readonly number[]): readonly Implementation[] {
  const ours = userCounts.map(
    (users): Implementation => ({
      name: users === 1 ? 'tasks, one user' : 'tasks',
      open: async ({ concurrency }) => openTaskRunner(openEngine, { concurrency, users }),
    }),
  )
  if (openBoss === undefined) return ours
  return [...ours, { name: reference, open: ({ concurrency }) => openBossRunner(openBoss, concurrency) }]
}
