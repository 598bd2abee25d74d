import { abortReasonOf, type Clock, isCancelled, type Ledger, memoryBus } from '@x/core'
import { errorCodes, type JsonObject, McpError, unavailableError } from '@x/schema'
import { createSharedBusSubscription } from './bus-subscription.ts'
import type { SubscriptionOptions } from './options.ts'
import {
  createStream,
  endStream,
  notifyStream,
  type SubscriptionHub,
  type StreamListeners,
  acknowledgeStream,
  type SubscriptionStream,
  type Subscription,
} from './stream.ts'
import { toTopicKey } from './topics.ts'

/** The streams of one server, and the bus that their changes come over. */
export interface Subscriptions {
  /** False where the author switched them off. */
  readonly isEnabled: boolean
  /**
   * Streams changes until the call is cancelled or the proof of its principal expires, and resolves with the result of
   * an ended stream. Rejects with an `McpError` for the peer, with a `LimitError`, with the signal's reason when it
   * aborts before anything was sent, or with the failure.
   */
  streamChanges(subscription: Subscription): Promise<JsonObject>
  /** Notifies every instance that a topic has changed. Rejects when the bus fails. */
  publish(topic: string): Promise<void>
  /** Ends every stream in good order (basic/patterns/subscriptions, graceful closure). */
  close(): void
}

/** The dependencies of subscriptions. */
export interface SubscriptionDeps {
  /** Receives the error of a bus that fails. */
  readonly onError: (error: unknown) => void
  /** Counts streams and their topics. */
  readonly ledger: Ledger
  readonly clock: Clock
  /** Milliseconds since 1970. */
  readonly wallClock: () => number
  /** Milliseconds after which a stream ends whose reader has not read what it was sent. */
  readonly slowReaderTimeoutMs?: number | undefined
}

/** A reader that was suspended for less, as a laptop with its lid closed, keeps its stream. */
const defaultSlowReaderTimeoutMs = 60_000

const disabledSubscriptions: Subscriptions = {
  isEnabled: false,
  streamChanges: () => Promise.reject(new McpError(errorCodes.methodNotFound, 'This server has no subscriptions')),
  publish: () => Promise.resolve(),
  close: () => {},
}

/** Makes the subscriptions of a server (basic/patterns/subscriptions). */
export function createSubscriptions(options: SubscriptionOptions | false, deps: SubscriptionDeps): Subscriptions {
  if (options === false) return disabledSubscriptions
  const { bus = memoryBus() } = options
  const { clock, wallClock, slowReaderTimeoutMs = defaultSlowReaderTimeoutMs, onError, ledger } = deps
  const listener = {
    onChange: ({ topic }: { topic: string }) => deliverChange(hub, topic),
    onGap: () => notifyAllStreams(hub),
  }
  const hub: SubscriptionHub = {
    streamsByTopic: new Map(),
    clock,
    wallClock,
    slowReaderTimeoutMs,
    ledger,
    busSubscription: createSharedBusSubscription(bus, listener, onError),
  }
  return {
    isEnabled: true,
    streamChanges: (subscription) => new Promise((resolve) => startSubscription(hub, subscription, resolve)),
    publish: async (topic) => bus.publish({ topic }),
    close: () => endAllStreams(hub),
  }
}

function endAllStreams(hub: SubscriptionHub): void {
  const streams = new Set(
    [...hub.streamsByTopic.values()].flatMap((listeners) => (listeners instanceof Set ? [...listeners] : listeners)),
  )
  for (const stream of streams) endStream(hub, stream)
}

function startSubscription(
  hub: SubscriptionHub,
  subscription: Subscription,
  finish: SubscriptionStream['finish'],
): void {
  const { call, filter } = subscription
  if (isCancelled(call)) throw abortReasonOf(call)
  rejectExpiredToken(call.principal?.expiresAt, hub.wallClock())
  const stream = createStream(hub, subscription, finish)
  // The acknowledgement promises that no change from now on is lost, so that the bus has to listen first.
  hub.busSubscription.acquire().then(
    () => acknowledgeStream(hub, stream, filter),
    (cause: unknown) => endStream(hub, stream, { error: subscriptionUnavailableError(cause) }),
  )
}

function deliverChange(hub: SubscriptionHub, topic: string): void {
  const key = toTopicKey(topic)
  const listeners = hub.streamsByTopic.get(key)
  if (listeners !== undefined) notifyStreams(hub, key, listeners)
}

/** Changes may have been lost, so that every stream is notified of all of its topics. */
function notifyAllStreams(hub: SubscriptionHub): void {
  for (const [key, listeners] of hub.streamsByTopic) notifyStreams(hub, key, listeners)
}

function notifyStreams(hub: SubscriptionHub, key: string, listeners: StreamListeners): void {
  if (!(listeners instanceof Set)) return notifyStream(hub, listeners, key)
  for (const stream of listeners) notifyStream(hub, stream, key)
}

/** A number that is not one has expired as well. */
function rejectExpiredToken(expiresAt: number | undefined, now: number): void {
  if (expiresAt === undefined || expiresAt > now) return
  throw new McpError(
    errorCodes.invalidRequest,
    'What authenticates this request has expired: renew it, and listen again',
  )
}

/** The author receives the failure of the bus. No handler ran, so that the peer may send the request again. */
function subscriptionUnavailableError(cause: unknown): McpError {
  return unavailableError({ begun: false, cause })
}
