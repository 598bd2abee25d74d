import { setTimeout } from 'node:timers/promises'
import { quantile } from '../board/latency.ts'
import type { Totals } from '../board/snapshot.ts'
import type { BalancerName } from '../fleet/balancer.ts'
import { openStage, type Stage, type StageOptions } from './open-stage.ts'

/** The result of a trial. */
export interface Trial extends Totals {
  readonly balancer: BalancerName
  readonly sheds: boolean
  /** The mean CPU time of a call in milliseconds, from which the rate of calls is computed. */
  readonly callMs: number
  /** The median latency of the calls that were sent during the overload, in milliseconds. */
  readonly p50Ms: number
  /** The 99th percentile of the same latencies. */
  readonly p99Ms: number
  /** The number of calls that were lost during the rolling restart. */
  readonly lostInRestarts: number
}

/** Options of a trial. */
export interface TrialOptions extends Omit<StageOptions, 'onFailure'> {
  /** The duration of the overload of instance 1, in milliseconds. */
  readonly overloadedMs: number
  /** Called at the start of each phase. */
  readonly onPhase?: ((phase: string, stage: Stage) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

const warmUpMs = 2_000
const messageDelayMs = 300

/** The number of heavy calls per instance, more than it can finish while it stops. */
const heavyPerInstance = 5

/**
 * Runs a trial under uneven load on a new fleet. First instance 1 is overloaded, then every instance is restarted in
 * turn, then the remaining calls complete. A seed determines the calls. Rejects if an instance cannot start, and with
 * the signal's reason if it is aborted.
 */
export async function runTrial({ overloadedMs, onPhase, signal, ...options }: TrialOptions): Promise<Trial> {
  const failed = new AbortController()
  const ended = AbortSignal.any(signal === undefined ? [failed.signal] : [failed.signal, signal])
  const stage = await openStage({ ...options, onFailure: (error) => failed.abort(error) })
  const phase = (name: string): void => onPhase?.(name, stage)
  try {
    phase('steady load')
    stage.setLevel('steady')
    await rejectOnAbort(setTimeout(warmUpMs), ended)
    phase('instance 1 is overloaded')
    const from = performance.now()
    stage.fleet.overload(1, true)
    stage.load.burst(options.size)
    await rejectOnAbort(setTimeout(overloadedMs), ended)
    const to = performance.now()
    stage.fleet.overload(1, false)
    const lostBefore = stage.board.totals().lost
    phase('every instance is restarted in turn')
    stage.load.burst(options.size * heavyPerInstance)
    await rejectOnAbort(stage.restartAll(), ended)
    stage.setLevel('off')
    phase('the remaining calls complete')
    await rejectOnAbort(stage.load.whenIdle(), ended)
    // Messages of instances about the last chunks may arrive after the responses.
    await setTimeout(messageDelayMs)
    const totals = stage.board.totals()
    const latencies = stage.board
      .completions()
      .flatMap(({ at, latencyMs }) => (isWithin(at - latencyMs, from, to) ? [latencyMs] : []))
    return {
      ...totals,
      balancer: options.balancer,
      sheds: options.sheds,
      callMs: stage.callMs,
      p50Ms: quantile(latencies, 0.5) ?? Number.NaN,
      p99Ms: quantile(latencies, 0.99) ?? Number.NaN,
      lostInRestarts: totals.lost - lostBefore,
    }
  } finally {
    await stage.stop()
  }
}

function isWithin(time: number, from: number, to: number): boolean {
  return time >= from && time < to
}

async function rejectOnAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  // After an abort, a rejection of the work is ignored.
  work.catch(() => {})
  const ended = new AbortController()
  const end = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { signal: ended.signal })
  })
  return Promise.race([work, end]).finally(() => ended.abort())
}
