import type { JsonObject, SubscriptionFilter } from '@x/schema'
import type { ClientError } from '../client-error.ts'

/** A list of the server that may become another one; the name of its field in a filter (basic/patterns/subscriptions). */
export type ListChange = 'toolsListChanged' | 'promptsListChanged' | 'resourcesListChanged'

/** What a subscription tells (basic/patterns/subscriptions, receiving notifications). */
export type SubscriptionEvent =
  /**
   * A stream is open: what `notifications` names will be told from here on, which may be less than was asked for. `missed`:
   * something may have changed unheard, so everything that was read before may be another now.
   */
  | { readonly type: 'opened'; readonly notifications: SubscriptionFilter; readonly missed: boolean }
  /** The list is another now. */
  | { readonly type: ListChange }
  /** A resource that is listened to, or a part of one, has other contents now. */
  | { readonly type: 'resourceUpdated'; readonly uri: string }
  /**
   * The stream ended and is opened again after `retryInMs` milliseconds. Without `error` the server ended it in good order, as
   * one does that stops.
   */
  | { readonly type: 'interrupted'; readonly error?: ClientError | undefined; readonly retryInMs: number }

/** How a stream that ended is opened again: after a pause that doubles each time in a row, less a random half. */
export interface ReopenOptions {
  /** The first pause, in milliseconds. Default 1000. */
  readonly pauseMs?: number | undefined
  /** No pause is longer, in milliseconds; and a stream that was open for so long is followed by the first pause. Default 30,000. */
  readonly maxPauseMs?: number | undefined
  /** How often in a row, before the subscription ends. Default: without limit. */
  readonly attempts?: number | undefined
}

/** What `client.listen` takes beside its filter. */
export interface ListenOptions {
  /** Ends the subscription, whose iteration then rejects with `signal.reason`. Aborted already: nothing is sent. */
  readonly signal?: AbortSignal | undefined
  /** How a stream that ended is opened again; `false`: the subscription ends with its stream. */
  readonly reopen?: false | ReopenOptions | undefined
  /**
   * How long to wait for the server's acknowledgement, in milliseconds. Default: the client's `timeoutMs`. An open stream has no limit
   * of time.
   */
  readonly openTimeoutMs?: number | undefined
  /** More `_meta`, such as `traceparent`; what the client writes itself cannot be replaced. */
  readonly meta?: JsonObject | undefined
}

/**
 * Changes on the server, as they come. It is read once: a second loop throws a `TypeError`. Leaving the loop closes it.
 *
 * The iteration rejects with `ClientError` when the server refuses for good, or the attempts to open a stream again are used up.
 * Who reads slowly misses nothing and is told nothing twice: a change that waits is not queued again, and when a stream was
 * opened again, its `opened` stands for all that waited before.
 */
export interface Subscription extends AsyncIterable<SubscriptionEvent>, AsyncDisposable {
  /** Ends the subscription: the server is told, and the iteration ends. Resolves when nothing of it is left. */
  close(): Promise<void>
}
