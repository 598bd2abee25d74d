import { computeBackoffMs } from '@x/core'
import { type InputRequests, type JsonObject, projectMetaKeys } from '@x/schema'

/** What the event `round` says of one response: neither the state nor the answers. */
export interface RoundView {
  readonly method: string
  readonly target: string | undefined
  /** Which request it answers, 1 for the call's first. */
  readonly round: number
  readonly status: 'input_required' | 'complete'
  /** What the server asks. Empty for a complete result, and for a hand-off. */
  readonly requests: InputRequests
  /** Size of `requestState` in bytes of UTF-8. */
  readonly stateBytes: number
  /** Milliseconds from the request to its response. */
  readonly durationMs: number
  /** True when the call was restarted before this round. */
  readonly isRestarted: boolean
  /** The result's `_meta`, untrusted. */
  readonly meta: JsonObject | undefined
}

/** For calls that may be answered with `input_required` (basic/patterns/mrtr). */
export interface RoundOptions {
  /** Maximum number of `input_required` results with questions in one call. Default 10. */
  readonly maxRounds?: number | undefined
  /**
   * `true` restarts the call once when the server no longer accepts its own `requestState`. Work of earlier rounds is
   * then repeated, and the user asked again. Default: `true` for prompts, resources, and tools that are listed as
   * read-only or idempotent.
   */
  readonly restart?: boolean | undefined
}

export const roundDefaults = {
  // limit: `rounds.maxRounds` | count | rounds of one call with questions | the call is rejected
  maxRounds: 10,
} satisfies RoundOptions

const initialPauseCount = 4

/**
 * Longest of the first pauses, in milliseconds. They are short because an instance that is not overloaded accepts the
 * call at once.
 */
const initialPauseMs = 50

/** After this many consecutive hand-offs all instances are overloaded, and a pause may exceed `boundedPauseMs`. */
const boundedPauseCount = 10

/** Longest pause up to `boundedPauseCount`, in milliseconds. A user does not notice it. */
const boundedPauseMs = 400

/** Longest of all pauses, in milliseconds, even if the server asks for more. */
const maxPauseMs = 5000

/**
 * Milliseconds to wait after a hand-off before the client sends the call again. A time in `meta` takes precedence.
 * Without one, the first four waits are 25 to 50 ms; from the fifth on the maximum doubles up to 400 ms, and from the
 * twelfth on up to 5,000 ms. Each wait is random, so that the calls of a stopping instance do not all arrive at another
 * at once.
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
