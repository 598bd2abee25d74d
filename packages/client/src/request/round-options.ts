import { computeBackoffMs } from '@x/core'
import { type InputRequests, type JsonObject, projectMetaKeys } from '@x/schema'

/** A summary of one response of a call, in the event `round`. It contains neither the state nor the answers. */
export interface RoundView {
  readonly method: string
  readonly target: string | undefined
  /** The number of the request, 1 for the first request of the call. */
  readonly round: number
  readonly status: 'input_required' | 'complete'
  /** The server's questions. Empty for a complete result, and for a hand-off. */
  readonly requests: InputRequests
  /** The size of `requestState` in bytes of UTF-8. */
  readonly stateBytes: number
  /** Milliseconds from the request to its response. */
  readonly durationMs: number
  /** True when the call was restarted before this round. */
  readonly isRestarted: boolean
  /** The result's `_meta`, untrusted. */
  readonly meta: JsonObject | undefined
}

/** Options for calls whose response may be `input_required` (basic/patterns/mrtr). */
export interface RoundOptions {
  /** The maximum number of `input_required` results with questions in one call. Default 10. */
  readonly maxRounds?: number | undefined
  /**
   * `true` restarts the call once when the server no longer accepts its own `requestState`. The call then repeats the
   * work of earlier rounds, and asks the user again. Default: `true` for prompts, resources, and tools that are listed
   * as read-only or idempotent.
   */
  readonly restart?: boolean | undefined
}

export const roundDefaults = {
  // limit: `rounds.maxRounds` | count | rounds of one call with questions | the call is rejected
  maxRounds: 10,
} satisfies RoundOptions

/** The number of consecutive hand-offs with the shortest pause. */
const initialPauseCount = 4

/**
 * The maximum of the first pauses, in milliseconds. The first pauses are short because an instance that is not
 * overloaded accepts the call at once.
 */
const initialPauseMs = 50

/**
 * The number of consecutive hand-offs after which a pause may exceed `boundedPauseMs`, because all instances are
 * overloaded.
 */
const boundedPauseCount = 10

/** The maximum of the pauses up to `boundedPauseCount`, in milliseconds. A user does not notice such a pause. */
const boundedPauseMs = 400

/** The maximum of all pauses, in milliseconds, even if the server asks for a longer pause. */
const maxPauseMs = 5000

/**
 * Returns the milliseconds to wait after a hand-off, before the client sends the call again. A time in `meta` takes
 * precedence. Otherwise the first four waits are 25 to 50 ms. From the fifth on the maximum doubles up to 400 ms, and
 * from the twelfth on up to 5,000 ms. Each wait is random, so that the calls of a stopping instance do not all arrive
 * at another instance at once.
 */
export function computeHandOffDelayMs(
  { previousHandOffCount, meta }: { readonly previousHandOffCount: number; readonly meta: JsonObject | undefined },
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
