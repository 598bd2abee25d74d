import {
  type Call,
  type Clock,
  offCancel,
  onCancel,
  type RequestId,
  type RpcNotification,
  type SubscriptionFilter,
} from '@x/schema'
import { longestTimer } from './options.ts'
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
}

/** One `subscriptions/listen` request: there may be thousands, so that each is one record. */
export interface Stream {
  readonly id: RequestId
  readonly call: Call
  topics: readonly Topic[]
  /** What changed while the reader was behind; undefined when it is not. */
  missed: Set<Topic> | undefined
  /** The timers that would end it. */
  slowTimer: unknown
  expiryTimer: unknown
  /** Undefined once it has ended. */
  settle:
    | { readonly resolve: () => void; readonly reject: (error: unknown) => void; readonly aborted: () => void }
    | undefined
}

/** What a stream is opened with. */
export interface Subscription {
  readonly id: RequestId
  readonly call: Call
  /** What will be sent, and is acknowledged. */
  readonly filter: SubscriptionFilter
}

/**
 * Opens a stream, and acknowledges it before anything else is sent on it. Resolves with its good end: the call was told to
 * stop, or what proves the caller has run out. Rejects with what ended it otherwise.
 */
export function openStream(hub: Hub, { id, call, filter }: Subscription): Promise<void> {
  return new Promise((resolve, reject) => {
    const stream: Stream = {
      id,
      call,
      topics: [],
      missed: undefined,
      slowTimer: undefined,
      expiryTimer: undefined,
      settle: { resolve, reject, aborted: () => endStream(hub, stream) },
    }
    stream.topics = topicsOf(filter).map((name) => join(hub, name, stream))
    if (stream.settle) onCancel(call, stream.settle.aborted)
    awaitExpiry(hub, stream)
    try {
      // Who hears of it may publish at once, so that the stream is in its place already; nothing comes in between.
      call.notify(acknowledged({ id, filter }))
    } catch (error) {
      endStream(hub, stream, { error })
    }
  })
}

/** Ends a stream, in good order unless an error is given; nothing of it stays. */
export function endStream(hub: Hub, stream: Stream, failure?: { readonly error: unknown }): void {
  const { settle, call } = stream
  if (settle === undefined) return
  stream.settle = undefined
  stream.missed = undefined
  for (const topic of stream.topics) leave(hub, topic, stream)
  offCancel(call, settle.aborted)
  hub.clock.clearTimeout(stream.slowTimer)
  hub.clock.clearTimeout(stream.expiryTimer)
  if (failure === undefined) settle.resolve()
  else settle.reject(failure.error)
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
