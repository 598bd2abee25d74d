import type { AsyncResource } from '@x/exchange'
import type { JsonObject } from '@x/schema'
import type { SubscriptionEvent } from '../caching/changes.ts'

/**
 * How to open a stream again. With each consecutive failure the pause before an attempt doubles; a random part of up to
 * half is subtracted.
 */
export interface ReopenOptions {
  /** First pause, in milliseconds. Default 1000. */
  readonly pauseMs?: number | undefined
  /**
   * Longest pause, in milliseconds. After a stream that was open for this long, the first pause applies again. Default
   * 30,000.
   */
  readonly maxPauseMs?: number | undefined
  /** Consecutive attempts after which the subscription ends. Default: without limit. */
  readonly attempts?: number | undefined
}

export const reopenDefaults = {
  pauseMs: 1000,
  maxPauseMs: 30_000,
  attempts: Number.POSITIVE_INFINITY,
} satisfies ReopenOptions

/**
 * Options of `client.listen`. A subscription must be acknowledged within the client's `timeoutMs`; once open, a stream
 * has no time limit.
 */
export interface ListenOptions {
  /**
   * Ends the subscription, whose iteration then rejects with `signal.reason`. If it has already aborted, nothing is
   * sent.
   */
  readonly signal?: AbortSignal | undefined
  /** How to open a stream again. With `false`, the subscription ends when its stream ends. */
  readonly reopen?: false | ReopenOptions | undefined
  /** Further members of `_meta`, such as `traceparent`. They cannot replace the client's own. */
  readonly meta?: JsonObject | undefined
}

/**
 * The changes on the server, in their order. Only one loop can read a subscription, and a second loop throws a
 * `TypeError`. Leaving the loop closes the subscription. The iteration rejects with `ClientError` when the server
 * rejects the subscription for good, or when the attempts to open a stream again are used up and the last stream
 * failed. If the server ended the last stream by itself, the iteration ends without an error. A slow reader misses no
 * change, because events are queued. A change that is already in the queue is not added again. When a stream is opened
 * again, its event `opened` replaces all queued events.
 */
export interface Subscription extends AsyncIterable<SubscriptionEvent>, AsyncResource {
  /** Ends the subscription at the server, and the iteration. Resolves when both have ended. */
  close(): Promise<void>
}
