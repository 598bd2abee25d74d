import { computeBackoffMs } from '@x/core'
import { type InputRequests, type JsonObject, projectMetaKeys } from '@x/schema'

/** Facts about one response of a call, for `onRound`. They contain neither the state nor the answers. */
export interface RoundView {
  readonly method: string
  readonly target: string | undefined
  /** 1 for the first request of the call. */
  readonly round: number
  readonly status: 'input_required' | 'complete'
  /** The server's questions. Empty for a complete result, and if the server only asks for a retry. */
  readonly requests: InputRequests
  /** Bytes of `requestState` in UTF-8. */
  readonly stateBytes: number
  /** Milliseconds from the request to its response. */
  readonly durationMs: number
  /** True when the call was restarted before this round. */
  readonly isRestarted: boolean
  /** The result's `_meta`, untrusted. */
  readonly meta: JsonObject | undefined
}

/** Options of a call that the server answers with `input_required` (basic/patterns/mrtr). */
export interface RoundOptions {
  /** The number of `input_required` results with questions that one call may have. Default 10. */
  readonly maxRounds?: number | undefined
  /**
   * `true` restarts the call once when the server no longer accepts its own `requestState`. The call then repeats the
   * work of earlier rounds, and asks the user again. Default: `true` for prompts, resources, and tools that are listed
   * as read-only or idempotent.
   */
  readonly restart?: boolean | undefined
  /** Receives each response of the call. An error that it throws fails the call. */
  readonly onRound?: ((round: RoundView) => void) | undefined
}

export const roundDefaults = { maxRounds: 10 } satisfies RoundOptions

/** Number of consecutive hand-offs after which the pause has its shortest length. */
const initialPauseCount = 4

/** Maximum of those pauses in milliseconds. An instance that is not overloaded takes the call at once. */
const initialPauseMs = 50

/**
 * Number of consecutive hand-offs after which a pause may exceed `boundedPauseMs`, because all instances are
 * overloaded.
 */
const boundedPauseCount = 10

/** Maximum of the pauses before that, in milliseconds: short enough that a user does not notice one hand-off. */
const boundedPauseMs = 400

/** The longest pause of all, in milliseconds. A server may ask for a longer one, and does not get it. */
const maxPauseMs = 5000

/** Inputs to the pause before a retry that follows a hand-off. */
interface HandOffDelayOptions {
  /** Number of hand-offs in a row before this one. */
  readonly previousHandOffCount: number
  /** The `_meta` of the result, in which the server may say how long to wait. */
  readonly meta: JsonObject | undefined
}

/**
 * Returns the milliseconds to wait before the client sends a call again that a server handed off. The first four waits
 * are 25 to 50 ms. From the fifth on each wait can be twice as long, up to 400 ms, and from the twelfth on up to 5,000
 * ms. Each wait is random, so that the calls of a stopping instance do not all arrive at another instance at once.
 */
export function computeHandOffDelayMs(
  { previousHandOffCount, meta }: HandOffDelayOptions,
  random: () => number = Math.random,
): number {
  const requestedMs = meta?.[projectMetaKeys.retryAfterMs]
  if (typeof requestedMs === 'number' && requestedMs >= 0) return Math.min(requestedMs, maxPauseMs) * (1 + random() / 2)
  if (previousHandOffCount >= boundedPauseCount) {
    const limits = { firstMs: boundedPauseMs, maxMs: maxPauseMs }
    return computeBackoffMs(previousHandOffCount - boundedPauseCount, limits, random)
  }
  const limits = { firstMs: initialPauseMs, maxMs: boundedPauseMs }
  return computeBackoffMs(Math.max(0, previousHandOffCount - initialPauseCount + 1), limits, random)
}
