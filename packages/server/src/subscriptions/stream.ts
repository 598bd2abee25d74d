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
import { giveBackSlot, type Slot, type Slots, takeSlot } from './slots.ts'
import { addressed, type Notice, noticeOf, topicsOf } from './topics.ts'

/** What can change, as long as somebody wants to hear of it. */
export interface Topic {
  readonly name: string
  readonly notice: Notice
  /** Those who want to hear of it. */
  readonly streams: Set<Stream>
}

/** What all streams of a server share. */
export interface Hub {
  readonly topics: Map<string, Topic>
  readonly clock: Clock
  /** Milliseconds since 1970. */
  readonly wallClock: () => number
  readonly slowReaderMs: number
  readonly slots: Slots
  readonly busUse: BusUse
}

/**
 * One `subscriptions/listen` request: there may be thousands, so that each is one record. Nothing of the request is kept beside
 * it, and no function stands still until it ends.
 */
export interface Stream {
  readonly id: RequestId
  readonly call: Call
  /** The `_meta` that the server's results have. */
  readonly resultMeta: JsonObject | undefined
  readonly slot: Slot
  /** What it hears of; undefined before it is acknowledged. */
  topics: readonly Topic[] | undefined
  /** What changed while the reader was behind; undefined when it is not. */
  missed: Set<Topic> | undefined
  /** The timers that would end it. */
  slowTimer: unknown
  expiryTimer: unknown
  /** Hears that the call was cancelled. */
  readonly cancelled: () => void
  /** Gives the result, or a promise that rejects with what ended it otherwise; undefined once it has ended. */
  settle: ((outcome: JsonObject | Promise<never>) => void) | undefined
}

/** What a stream is opened with. */
export interface Subscription {
  readonly id: RequestId
  readonly call: Call
  /** What will be sent, and is acknowledged. */
  readonly filter: SubscriptionFilter
  /** The `_meta` that the server's results have. */
  readonly resultMeta: JsonObject | undefined
}

/** Takes a place for a stream that tells nothing yet. Throws McpError when there is none. */
export function createStream(hub: Hub, subscription: Subscription, settle: Stream['settle']): Stream {
  const { id, call, resultMeta } = subscription
  const stream: Stream = {
    id,
    call,
    resultMeta,
    slot: takeSlot(hub.slots, call.principal),
    topics: undefined,
    missed: undefined,
    slowTimer: undefined,
    expiryTimer: undefined,
    cancelled: () =>
      endStream(hub, stream, stream.topics === undefined ? { error: cancelReason(stream.call) } : undefined),
    settle,
  }
  onCancel(call, stream.cancelled)
  return stream
}

/** Acknowledges a stream before anything else is sent on it; one that has ended meanwhile stays silent. */
export function openStream(hub: Hub, stream: Stream, filter: SubscriptionFilter): void {
  const { id, call } = stream
  if (stream.settle === undefined) return
  stream.topics = topicsOf(filter).map((name) => join(hub, name, stream))
  awaitExpiry(hub, stream)
  try {
    // Who hears of it may publish at once, so that the stream is in its place already; nothing comes in between.
    call.notify(acknowledged({ id, filter }))
  } catch (error) {
    endStream(hub, stream, { error })
  }
}

/** Ends a stream, in good order unless an error is given; nothing of it stays. */
export function endStream(hub: Hub, stream: Stream, failure?: { readonly error: unknown }): void {
  const { id, settle, call, topics, resultMeta } = stream
  if (settle === undefined) return
  stream.settle = undefined
  stream.missed = undefined
  for (const topic of topics ?? []) leave(hub, topic, stream)
  offCancel(call, stream.cancelled)
  hub.clock.clearTimeout(stream.slowTimer)
  hub.clock.clearTimeout(stream.expiryTimer)
  hub.busUse.release()
  giveBackSlot(hub.slots, stream.slot)
  if (failure !== undefined) return settle(Promise.reject(failure.error))
  // basic/patterns/subscriptions, graceful closure.
  settle({ resultType: 'complete', _meta: { ...resultMeta, [metaKeys.subscriptionId]: id } })
}

function acknowledged({ id, filter }: Pick<Subscription, 'id' | 'filter'>): RpcNotification {
  const params = { notifications: { ...filter } }
  return addressed({ method: 'notifications/subscriptions/acknowledged', params }, id)
}

function join({ topics }: Hub, name: string, stream: Stream): Topic {
  let topic = topics.get(name)
  if (topic === undefined) {
    topic = { name, notice: noticeOf(name), streams: new Set() }
    topics.set(name, topic)
  }
  topic.streams.add(stream)
  return topic
}

function leave({ topics }: Hub, topic: Topic, stream: Stream): void {
  topic.streams.delete(stream)
  if (topic.streams.size === 0) topics.delete(topic.name)
}

/** Ends a stream with what proves its caller. Timers are short, and clocks are set, so that it looks again. */
function awaitExpiry(hub: Hub, stream: Stream): void {
  const expiresAt = stream.call.principal?.expiresAt
  if (expiresAt === undefined) return
  const left = expiresAt - hub.wallClock()
  if (left <= 0) return endStream(hub, stream)
  stream.expiryTimer = hub.clock.setTimeout(() => awaitExpiry(hub, stream), Math.min(left, longestTimer))
}
