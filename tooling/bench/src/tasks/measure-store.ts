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

/** How much is measured. */
export interface Plan {
  readonly rounds: number
  /** How many tasks are made, and by how many clients, to see how many are done in a second. */
  readonly load: Load
  /** How many tasks a worker has at once; the first goes for everything but how many are done in a second. */
  readonly concurrencies: readonly [number, ...number[]]
  /** How many are looked at in a round, for each number of them under way. */
  readonly latencies: readonly Load[]
  readonly trips: Omit<RoundPlan, 'concurrency'>
  readonly signal?: AbortSignal | undefined
}

const trips = { calls: 200, milliseconds: 500, pollIntervalMs: 1000 }

/** What is measured when nothing is asked for. The first concurrency is the default of servers. */
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

/** What is measured for a first look. */
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

/** What is done before anything counts, so that all code is compiled. */
export const warmUpPlan: Plan = { ...quickPlan, rounds: 1, load: fullPlan.load, trips: { ...trips, pollIntervalMs: 10 } }

/** Measures everything of one store, and gives lines as it goes. */
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
  const under = load.clients === 1 ? 'one at a time' : `${load.clients} under way`
  const boss = fromSending.find(({ name }) => name === reference)
  yield* latencyLines(`sent to start, ${under}`, fromSending, boss)
  // It may be nothing, or less, of which there are no ratios.
  yield* latencyLines(`answered to start, ${under}`, fromAnswer)
  yield* latencyLines(`answer to resumption, ${under}`, [{ name: 'tasks', rounds: resumptions }], boss)
}

/** How many users the clients are. */
const users = 16

interface Round {
  readonly implementations: readonly Implementation[]
  readonly round: number
  readonly signal: AbortSignal | undefined
}

/** What every implementation did, in the order of their names; every other round goes backwards. */
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

/** Ours, for as many users as there are clients, and pg-boss where the store has it. */
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
