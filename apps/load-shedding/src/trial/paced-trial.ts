import { setTimeout } from 'node:timers/promises'
import { type ClientExtension, createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'
import { Agent } from 'undici'
import type { BalancerName } from '../fleet/balancer.ts'
import { startFleet } from '../fleet/start-fleet.ts'
import { createPlan } from '../load/plan.ts'
import { pacedNumbers } from '../primes/paced-count.ts'

/** The limits above which an instance of the demo sheds calls. */
export { shedding } from '../instance/serve-instance.ts'

/** A call of a paced trial. */
export interface PacedCall {
  /** The time at which its client sends the call, in milliseconds since the start. */
  readonly at: number
  /** The number of chunks of work. */
  readonly chunks: number
}

/** The result of a paced trial. Times are milliseconds. */
export interface PacedTrial {
  readonly completed: number
  readonly failed: number
  /** The number of hand-offs of all calls. */
  readonly moves: number
  /** The latency of each completed call. */
  readonly latenciesMs: readonly number[]
  /** The mean time for which an event loop was busy per chunk, including the handling of requests. */
  readonly chunkMs: number
}

/** The number of chunks of a light and of a heavy call, as in the demo. */
const chunksOf = { light: 20, heavy: 120 } as const

/** Returns the calls that the demo's clients send within a time in milliseconds. A seed determines the calls. */
export function planCalls(seed: number, perSecond: number, withinMs: number): readonly PacedCall[] {
  const next = createPlan(seed)
  const calls: PacedCall[] = []
  for (let { afterMs: at, job } = next(perSecond); at < withinMs; ) {
    calls.push({ at, chunks: chunksOf[job.size] })
    const arrival = next(perSecond)
    at += arrival.afterMs
    job = arrival.job
  }
  return calls
}

/** Options of a paced trial. */
export interface PacedTrialOptions {
  readonly balancer: BalancerName
  readonly size: number
  readonly sheds: boolean
  readonly calls: readonly PacedCall[]
  /** The time for which each chunk of work blocks the event loop, in milliseconds. */
  readonly chunkMs: number
}

/**
 * Runs the given calls on a new fleet. Chunks of work take a given time and no CPU, so that other programs on the
 * machine hardly change the result. Rejects if an instance cannot start.
 */
export async function runPacedTrial({ calls, ...options }: PacedTrialOptions): Promise<PacedTrial> {
  const work = { chunks: 0, busyMs: 0 }
  const fleet = await startFleet({
    ...options,
    port: 0,
    graceMs: 1000,
    onStatus: () => {},
    onMessage: (_, message) => {
      if (message.kind !== 'paced') return
      work.chunks += message.chunks
      work.busyMs += message.busyMs
    },
    onFailure: () => {},
  })
  // A new connection for each request, so that the balancer chooses an instance for each request.
  const agent = new Agent({ pipelining: 0 })
  const connection = connectHttp(fleet.url, { dispatcher: agent })
  const counts = { failed: 0, moves: 0 }
  const countMoves: ClientExtension = {
    extends: 'client',
    name: 'countMoves',
    start: () => ({
      observe: (event) => {
        if (event.type === 'round' && event.status === 'input_required') counts.moves++
      },
    }),
  }
  const client = createClient(connection, {
    name: 'paced',
    version: '0.1.0',
    cache: false,
    extensions: [countMoves],
  })
  const latenciesMs: number[] = []
  const startedAt = performance.now()
  const sendCall = async ({ at, chunks }: PacedCall): Promise<void> => {
    await setTimeout(Math.max(0, startedAt + at - performance.now()))
    const sentAt = performance.now()
    // The first number is 2.
    const limit = chunks * pacedNumbers + 1
    await client.callTool('count_primes', { limit }).then(
      () => latenciesMs.push(performance.now() - sentAt),
      () => counts.failed++,
    )
  }
  try {
    await Promise.all(calls.map(sendCall))
    return { ...counts, completed: latenciesMs.length, latenciesMs, chunkMs: work.busyMs / work.chunks }
  } finally {
    await connection.close()
    await agent.destroy()
    await fleet.stop()
  }
}
