import { memoryBus, isCancelled } from '@x/core'
import { unavailableError } from '@x/exchange'
import { errorCodes, type JsonObject, McpError } from '@x/schema'
import { SharedBusSubscription } from './bus-subscription.ts'
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
import { checkTopic, toTopicKey } from './topics.ts'

/** One server's streams, which receive changes over a bus. */
export interface Subscriptions {
  /** False if the author turned subscriptions off. */
  readonly isEnabled: boolean
  /**
   * Streams changes until the call is cancelled or the token of its principal expires. Resolves with the result when
   * the stream ends. Rejects with an `McpError` for the peer, with a `LimitError`, or with the error that ended the
   * stream; with the signal's reason if it aborts before anything was sent.
   */
  streamChanges(subscription: Subscription): Promise<JsonObject>
  /**
   * Notifies every instance that a topic has changed. If the bus fails, notifies this one and rejects. Rejects with a
   * TypeError for a topic that nobody can subscribe to.
   */
  publish(topic: string): Promise<void>
  /** Ends every stream gracefully (basic/patterns/subscriptions, graceful closure). */
  close(): void
}

/**
 * Milliseconds after which a stream ends because its reader does not read. A laptop whose lid is closed for a shorter
 * time keeps its stream.
 */
// limit: a slow reader | ms | a stream whose reader takes nothing | the stream is closed
const defaultSlowReaderTimeoutMs = 60_000

const disabledSubscriptions: Subscriptions = {
  isEnabled: false,
  streamChanges: () => Promise.reject(new McpError(errorCodes.methodNotFound, 'This server has no subscriptions')),
  publish: () => Promise.resolve(),
  close: () => {},
}

/**
 * A server's subscriptions (basic/patterns/subscriptions). `onError` receives the bus's errors, and
 * `slowReaderTimeoutMs` are the milliseconds after which a stream ends if its reader has not read the sent messages.
 */
export function createSubscriptions(
  options: SubscriptionOptions | false,
  {
    onError,
    slowReaderTimeoutMs = defaultSlowReaderTimeoutMs,
    ...shared
  }: Pick<SubscriptionHub, 'clock' | 'wallClock' | 'ledger' | 'events'> & {
    readonly onError: (error: unknown) => void
    readonly slowReaderTimeoutMs?: number | undefined
  },
): Subscriptions {
  if (options === false) return disabledSubscriptions
  const { bus = memoryBus() } = options
  const listener = {
    onChange: ({ topic }: { topic: string }) => {
      const key = toTopicKey(topic)
      notifyStreams(hub, key, hub.streamsByTopic.get(key))
    },
    onGap: () => {
      for (const [key, listeners] of hub.streamsByTopic) notifyStreams(hub, key, listeners)
    },
  }
  const hub: SubscriptionHub = {
    ...shared,
    streamsByTopic: new Map(),
    slowReaderTimeoutMs,
    busSubscription: new SharedBusSubscription(bus, listener, onError),
  }
  return {
    isEnabled: true,
    streamChanges: (subscription) => new Promise((resolve) => startSubscription(hub, subscription, resolve)),
    async publish(topic) {
      checkTopic(topic)
      try {
        await bus.publish({ topic })
      } catch (error) {
        // This instance needs no bus for its own clients. If the change arrives after all, it counts as the same one.
        listener.onChange({ topic })
        throw error
      }
    },
    close: () => endAllStreams(hub),
  }
}

function endAllStreams(hub: SubscriptionHub): void {
  const streams = new Set(
    [...hub.streamsByTopic.values()].flatMap((listeners) => (listeners instanceof Set ? [...listeners] : listeners)),
  )
  for (const stream of streams) endStream(hub, stream, { reason: 'server' })
}

function startSubscription(
  hub: SubscriptionHub,
  subscription: Subscription,
  finish: SubscriptionStream['finish'],
): void {
  const { call, filter } = subscription
  if (isCancelled(call)) throw call.signal.reason
  rejectExpiredToken(call.principal?.expiresAt, hub.wallClock())
  const stream = createStream(hub, subscription, finish)
  // Once acknowledged, no change may be lost, so the bus must listen first. If it fails, which is logged there, no handler
  // has run, so the client may send the request again.
  hub.busSubscription.acquire().then(
    () => acknowledgeStream(hub, stream, filter),
    (cause: unknown) => endStream(hub, stream, { reason: 'error', error: unavailableError({ begun: false, cause }) }),
  )
}

function notifyStreams(hub: SubscriptionHub, key: string, listeners: StreamListeners | undefined): void {
  if (listeners instanceof Set) for (const stream of listeners) notifyStream(hub, stream, key)
  else if (listeners !== undefined) notifyStream(hub, listeners, key)
}

function rejectExpiredToken(expiresAt: number | undefined, now: number): void {
  if (expiresAt === undefined || expiresAt > now) return
  throw new McpError(
    errorCodes.invalidRequest,
    'The credentials of this request have expired: renew them, and listen again',
  )
}
