import { computeBackoffMs } from '@x/core'
import { type InputRequests, type JsonObject, projectMetaKeys } from '@x/schema'

/** One response of a call that may ask for input, for observers. It contains nothing of the state or the answers. */
export interface RoundView {
  readonly method: string
  readonly target: string | undefined
  /** 1 for the first request of the call. */
  readonly round: number
  readonly status: 'input_required' | 'complete'
  /** The server's questions, empty when it only asks for a retry, or is done. */
  readonly requests: InputRequests
  /** UTF-8 bytes of the state. */
  readonly stateBytes: number
  /** Milliseconds from the request to its response. */
  readonly durationMs: number
  /** True when the call was restarted before this round. */
  readonly isRestarted: boolean
  /** The result's `_meta`, untrusted. */
  readonly meta: JsonObject | undefined
}

/** The pause before a round that only hands the call off, in milliseconds. */
export interface PauseBounds {
  /** The longest pause of the first four in a row. Each further one may be twice as long. Default 50. */
  readonly initialMs?: number | undefined
  /** The longest of the first ten in a row. Later ones double up to five seconds. Default 400. */
  readonly maxMs?: number | undefined
}

/** Options of a call that the server answers with `input_required` (basic/patterns/mrtr). */
export interface RoundOptions {
  /** The number of `input_required` results of one call that have questions. Default 10. */
  readonly maxRounds?: number | undefined
  /**
   * The pause before a retry without questions, unless the server says how long. A random half of each pause is
   * omitted.
   */
  readonly pauseBounds?: PauseBounds | undefined
  /** Milliseconds of a call with all its rounds and answers. Default: no bound but the call's signal. */
  readonly totalTimeoutMs?: number | undefined
  /** Milliseconds of the answers of one round. Default: no bound, because people take their time. */
  readonly answerTimeoutMs?: number | undefined
  /**
   * Restarts the call once when the server no longer accepts its own state. The work of earlier rounds is
   * then repeated, and people are asked again. Default: for prompts, resources, and tools listed as read-only or
   * idempotent.
   */
  readonly restart?: boolean | undefined
  /** Receives each response. An error that it throws fails the call. */
  readonly onRound?: ((round: RoundView) => void) | undefined
}

/** Returns the options of one call: its own, else its client's. */
export function mergeRoundOptions(clientOptions: RoundOptions = {}, callOptions: RoundOptions = {}): RoundOptions {
  return {
    maxRounds: callOptions.maxRounds ?? clientOptions.maxRounds,
    pauseBounds: callOptions.pauseBounds ?? clientOptions.pauseBounds,
    totalTimeoutMs: callOptions.totalTimeoutMs ?? clientOptions.totalTimeoutMs,
    answerTimeoutMs: callOptions.answerTimeoutMs ?? clientOptions.answerTimeoutMs,
    restart: callOptions.restart ?? clientOptions.restart,
    onRound: callOptions.onRound ?? clientOptions.onRound,
  }
}

/** Number of hand-offs in a row that are followed at the shortest pause. */
const initialPauseCount = 4

/** Number of hand-offs in a row after which a pause may be longer than its bound: the fleet has no place for the call. */
const boundedPauseCount = 10

/** The longest pause of all. A server may ask for a longer one, and does not get it. */
const maxPauseMs = 5000

/** Inputs to the pause before a retry that follows a hand-off. */
interface HandOffDelayOptions {
  /** Number of hand-offs in a row before this one. */
  readonly previousHandOffCount: number
  /** The `_meta` of the result, in which the server may say how long to wait. */
  readonly meta: JsonObject | undefined
  readonly bounds: PauseBounds
}

/**
 * Returns how long to wait before a call is sent again that was handed off, in milliseconds: 25 to 50, and from the
 * fifth in a row on twice as long each time, up to 400, and from the twelfth on up to 5,000. Instances pace their
 * hand-offs, so a call finds a place at once as a rule. A random part keeps the calls of an instance that stops from all coming back at one moment.
 */
export function computeHandOffDelayMs(
  { previousHandOffCount, meta, bounds }: HandOffDelayOptions,
  random: () => number = Math.random,
): number {
  const requestedMs = meta?.[projectMetaKeys.retryAfterMs]
  if (typeof requestedMs === 'number' && requestedMs >= 0) return Math.min(requestedMs, maxPauseMs) * (1 + random() / 2)
  const { initialMs = 50, maxMs = 400 } = bounds
  if (previousHandOffCount >= boundedPauseCount) {
    const limits = { firstMs: maxMs, maxMs: Math.max(maxMs, maxPauseMs) }
    return computeBackoffMs(previousHandOffCount - boundedPauseCount, limits, random)
  }
  return computeBackoffMs(
    Math.max(0, previousHandOffCount - initialPauseCount + 1),
    { firstMs: initialMs, maxMs },
    random,
  )
}
