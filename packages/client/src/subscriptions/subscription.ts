import type { AsyncResource, JsonObject, SubscriptionFilter } from '@x/schema'
import type { ClientError } from '../request/client-error.ts'

/** The name of a list of the server, as a filter of a subscription has it (basic/patterns/subscriptions). */
export type ListChange = 'toolsListChanged' | 'promptsListChanged' | 'resourcesListChanged'

/** An event of a subscription (basic/patterns/subscriptions, receiving notifications). */
export type SubscriptionEvent =
  /**
   * A stream is open: the server will report the changes in `notifications`, which may be fewer than requested.
   * `mayHaveMissedChanges`: changes may have been missed, so every earlier result may be stale.
   */
  | { readonly type: 'opened'; readonly notifications: SubscriptionFilter; readonly mayHaveMissedChanges: boolean }
  /** The list has changed. */
  | { readonly type: ListChange }
  /** A subscribed resource, or a part of one, has changed. */
  | { readonly type: 'resourceUpdated'; readonly uri: string }
  /**
   * The stream ended and is opened again after `retryInMs` milliseconds. Without `error` the server ended it
   * gracefully, as one does that stops.
   */
  | { readonly type: 'interrupted'; readonly error?: ClientError | undefined; readonly retryInMs: number }

/** Options for opening a stream again: after a pause that doubles each time in a row, less a random half. */
export interface ReopenOptions {
  /** The first pause, in milliseconds. Default 1000. */
  readonly pauseMs?: number | undefined
  /**
   * The longest pause, in milliseconds. After a stream that was open for this long, the first pause applies again.
   * Default 30,000.
   */
  readonly maxPauseMs?: number | undefined
  /** Attempts in a row before the subscription ends. Default: without limit. */
  readonly attempts?: number | undefined
}

/** Options of `client.listen` beside its filter. */
export interface ListenOptions {
  /**
   * Ends the subscription, whose iteration then rejects with `signal.reason`. If it has already aborted, nothing is
   * sent.
   */
  readonly signal?: AbortSignal | undefined
  /** Options for opening a stream again. `false`: the subscription ends with its stream. */
  readonly reopen?: false | ReopenOptions | undefined
  /**
   * Milliseconds to wait for the server's acknowledgement. Default: the client's `timeoutMs`. An open stream has no
   * time limit.
   */
  readonly openTimeoutMs?: number | undefined
  /** Further `_meta`, such as `traceparent`. It cannot replace what the client writes itself. */
  readonly meta?: JsonObject | undefined
}

/**
 * Changes on the server, in their order. It is read once: a second loop throws a `TypeError`. Leaving the loop closes
 * it.
 *
 * The iteration rejects with `ClientError` when the server rejects the subscription for good, or when the attempts to
 * open a stream again are used up. A slow reader misses no change and receives none twice: a waiting change is not
 * queued again, and after a stream was opened again, its `opened` stands for all that waited before.
 */
export interface Subscription extends AsyncIterable<SubscriptionEvent>, AsyncResource {
  /** Ends the subscription: the server is notified, and the iteration ends. Resolves when both have happened. */
  close(): Promise<void>
}
