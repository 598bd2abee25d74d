import { setTimeout } from 'node:timers/promises'
import { type ClientExtension, createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'
import { Agent } from 'undici'
import type { BalancerName } from '../fleet/balancer.ts'
import { startFleet } from '../fleet/start-fleet.ts'
import { createPlan } from '../load/plan.ts'
import { pacedNumbers } from '../primes/paced-count.ts'

/** The limits from which on an instance of the demo sheds. */
export { shedding } from '../instance/serve-instance.ts'

/** A call of a paced trial. */
export interface PacedCall {
  /** Milliseconds after the beginning at which its client sends it. */
  readonly at: number
  /** Its chunks of work. */
  readonly chunks: number
}

/** The result of a paced trial. Times are milliseconds. */
export interface PacedTrial {
  readonly completed: number
  readonly failed: number
  /** Hand-offs of all calls. */
  readonly moves: number
  /** The latency of each completed call. */
  readonly latenciesMs: readonly number[]
  /** The time for which an event loop was busy, by chunk: with the chunk, and with its share of all around it. */
  readonly chunkMs: number
}

/** The numbers of chunks that light and heavy calls have, as in the demo. */
const chunksOf = { light: 20, heavy: 120 } as const

/** Returns the calls of the demo's clients within so many milliseconds: the same for the same seed. */
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
  /** For how many milliseconds each chunk of work holds an event loop. */
  readonly chunkMs: number
}

/**
 * Runs given calls on a new fleet whose chunks of work take a given time and no CPU, so that a busy machine changes
 * little. Rejects when an instance cannot start.
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
  // A connection for each request, as if each came from another client.
  const agent = new Agent({ pipelining: 0 })
  const connection = connectHttp(fleet.url, { dispatcher: agent })
  const counts = { failed: 0, moves: 0 }
  const countMoves: ClientExtension = {
    side: 'client',
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
