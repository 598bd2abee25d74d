import {
  type Call,
  cancelReason,
  type Clock,
  type JsonObject,
  metaKeys,
  offCancel,
  onCancel,
  type RequestId,
  type RpcNotification,
  type SubscriptionFilter,
} from '@x/schema'
import type { BusUse } from './bus-use.ts'
import { longestTimer } from './options.ts'
import { releaseSlot, type Slot, type Slots, takeSlot } from './slots.ts'
import { addressed, keysOf } from './topics.ts'

/** Those who want to hear of a topic: most have one stream, for which a set would be most of what a topic takes. */
export type Listeners = Stream | Set<Stream>

/** The state that all streams of a server share. */
export interface Hub {
  /** The streams of each topic, by {@link keysOf}. */
  readonly topics: Map<string, Listeners>
  readonly clock: Clock
  /** Milliseconds since 1970. */
  readonly wallClock: () => number
  readonly slowReaderMs: number
  readonly slots: Slots
  readonly busUse: BusUse
}

/**
 * One `subscriptions/listen` request: there may be thousands, so that each is one record. Nothing of the request is
 * kept beside it, and no function stands still until it ends.
 */
export interface Stream {
  readonly id: RequestId
  readonly call: Call
  /** The `_meta` that the server's results have. */
  readonly resultMeta: JsonObject | undefined
  readonly slot: Slot
  /** The keys of what it hears of. */
  readonly topics: readonly string[]
  isAcknowledged: boolean
  /** The keys of what changed while the reader was behind; undefined when it is not. */
  missed: Set<string> | undefined
  /** The timers that would end it. */
  slowTimer: unknown
  expiryTimer: unknown
  /** Hears that the call was cancelled. */
  readonly cancelled: () => void
  /** Settles the call with the result, or with a promise that rejects; undefined once it has ended. */
  finish: ((outcome: JsonObject | Promise<never>) => void) | undefined
}

/** The parameters of a stream. */
export interface Subscription {
  readonly id: RequestId
  readonly call: Call
  /** The key of the caller, for its quota. */
  readonly caller: string
  /** The accepted filter, which is acknowledged. */
  readonly filter: SubscriptionFilter
  /** The `_meta` that the server's results have. */
  readonly resultMeta: JsonObject | undefined
}

/** Takes a place for a stream that tells nothing yet. Throws McpError when there is none. */
export function createStream(hub: Hub, subscription: Subscription, finish: Stream['finish']): Stream {
  const { id, call, caller, resultMeta } = subscription
  const topics = keysOf(subscription.filter)
  const stream: Stream = {
    id,
    call,
    resultMeta,
    slot: takeSlot(hub.slots, { caller, topics: topics.length }),
    topics,
    isAcknowledged: false,
    missed: undefined,
    slowTimer: undefined,
    expiryTimer: undefined,
    cancelled: () => endStream(hub, stream, stream.isAcknowledged ? undefined : { error: cancelReason(stream.call) }),
    finish,
  }
  onCancel(call, stream.cancelled)
  return stream
}

/** Acknowledges a stream before anything else is sent on it; one that has ended meanwhile stays silent. */
export function openSubscription(hub: Hub, stream: Stream, filter: SubscriptionFilter): void {
  const { id, call } = stream
  if (stream.finish === undefined) return
  for (const key of stream.topics) addListener(hub, key, stream)
  stream.isAcknowledged = true
  endOnExpiry(hub, stream)
  try {
    // A subscriber may publish at once, so the stream is registered before it is acknowledged; nothing is sent in
    // between.
    call.notify(acknowledgement({ id, filter }))
  } catch (error) {
    endStream(hub, stream, { error })
  }
}

/** Ends a stream, in good order unless an error is given; nothing of it stays. */
export function endStream(hub: Hub, stream: Stream, failure?: { readonly error: unknown }): void {
  const { id, finish, call, topics, isAcknowledged, resultMeta } = stream
  if (finish === undefined) return
  stream.finish = undefined
  stream.missed = undefined
  if (isAcknowledged) for (const key of topics) removeListener(hub, key, stream)
  offCancel(call, stream.cancelled)
  hub.clock.clearTimeout(stream.slowTimer)
  hub.clock.clearTimeout(stream.expiryTimer)
  hub.busUse.release()
  releaseSlot(hub.slots, stream.slot, topics.length)
  if (failure !== undefined) return finish(Promise.reject(failure.error))
  // basic/patterns/subscriptions, graceful closure.
  finish({ resultType: 'complete', _meta: { ...resultMeta, [metaKeys.subscriptionId]: id } })
}

function acknowledgement({ id, filter }: Pick<Subscription, 'id' | 'filter'>): RpcNotification {
  const params = { notifications: { ...filter } }
  return addressed({ method: 'notifications/subscriptions/acknowledged', params }, id)
}

function addListener({ topics }: Hub, key: string, stream: Stream): void {
  const others = topics.get(key)
  if (others === undefined) topics.set(key, stream)
  else if (others instanceof Set) others.add(stream)
  else topics.set(key, new Set([others, stream]))
}

function removeListener({ topics }: Hub, key: string, stream: Stream): void {
  const listeners = topics.get(key)
  if (listeners instanceof Set) {
    listeners.delete(stream)
    if (listeners.size > 0) return
  }
  topics.delete(key)
}

/** Ends a stream with what proves its caller. Timers are short, and clocks are set, so that it looks again. */
function endOnExpiry(hub: Hub, stream: Stream): void {
  const expiresAt = stream.call.principal?.expiresAt
  if (expiresAt === undefined) return
  const left = expiresAt - hub.wallClock()
  if (left <= 0) return endStream(hub, stream)
  stream.expiryTimer = hub.clock.setTimeout(() => endOnExpiry(hub, stream), Math.min(left, longestTimer))
}
