import { type Clock, type Ledger, maxTimerMs, onCancel, offCancel } from '@x/core'
import { backPressureKey, type Call, type ServerEvents } from '@x/exchange'
import { errorCodes, type JsonObject, McpError, metaKeys, type RequestId, type SubscriptionFilter } from '@x/schema'
import type { EventSource } from '@x/exchange/internal'
import type { SharedBusSubscription } from './bus-subscription.ts'
import { addSubscriptionId, createChangeNotice, topicKeysOf } from './topics.ts'

/** A topic's streams. Most topics have one, for which a set would take most of the memory. */
export type StreamListeners = SubscriptionStream | Set<SubscriptionStream>

/** State that all streams of a server share. */
export interface SubscriptionHub {
  /** Streams by topic; {@link topicKeysOf} has the keys. */
  readonly streamsByTopic: Map<string, StreamListeners>
  readonly clock: Clock
  /** Milliseconds since 1970. */
  readonly wallClock: () => number
  readonly slowReaderTimeoutMs: number
  readonly ledger: Ledger
  readonly events: Pick<EventSource, 'emit'>
  readonly busSubscription: SharedBusSubscription
}

/**
 * One `subscriptions/listen` request. Thousands may be open, so each is a single record: nothing else of the request
 * stays in memory, and no suspended function waits for its end.
 */
export interface SubscriptionStream extends Pick<Subscription, 'id' | 'call' | 'resultMeta'> {
  /** Subtracts the stream and its topics from the counts of the ledger. */
  readonly release: () => void
  /** Keys of the topics that the stream follows. */
  readonly topicKeys: readonly string[]
  /** Monotonic time of the acknowledgement. Undefined before it. */
  acknowledgedAt: number | undefined
  /** Keys of the topics that changed while the reader was slow. Undefined while the reader is fast enough. */
  missedKeys: Set<string> | undefined
  /** Timers that end the stream: for a slow reader, and when the caller's token expires. */
  slowReaderTimer: unknown
  expiryTimer: unknown
  /** Called when the call is cancelled. */
  readonly onCancelled: (reason: unknown) => void
  /** Settles the call with the result, or with a promise that rejects. Undefined once the stream has ended. */
  finish: ((outcome: JsonObject | Promise<never>) => void) | undefined
}

/** A stream's parameters. */
export interface Subscription {
  readonly id: RequestId
  readonly call: Call
  /** Under this key the ledger counts the caller. */
  readonly callerKey: string
  /** The accepted part of the requested filter, as the client receives it. */
  readonly filter: SubscriptionFilter
  /** `_meta` of the server's results. */
  readonly resultMeta: JsonObject
}

/** Sends nothing yet. Throws `LimitError` if the caller, or all callers together, would exceed the bound. */
export function createStream(
  hub: SubscriptionHub,
  subscription: Subscription,
  finish: SubscriptionStream['finish'],
): SubscriptionStream {
  const { id, call, callerKey, resultMeta } = subscription
  const topicKeys = topicKeysOf(subscription.filter)
  const stream: SubscriptionStream = {
    id,
    call,
    resultMeta,
    release: takeStream(hub.ledger, callerKey, topicKeys.length),
    topicKeys,
    acknowledgedAt: undefined,
    missedKeys: undefined,
    slowReaderTimer: undefined,
    expiryTimer: undefined,
    onCancelled: (error) => {
      const reason = 'client'
      endStream(hub, stream, stream.acknowledgedAt === undefined ? { reason, error } : { reason })
    },
    finish,
  }
  onCancel(call, stream.onCancelled)
  return stream
}

function takeStream(ledger: Ledger, callerKey: string, topicCount: number): () => void {
  const releaseStream = ledger.take('streams', callerKey)
  try {
    const releaseTopics = ledger.take('topics', callerKey, topicCount)
    return () => {
      releaseStream()
      releaseTopics()
    }
  } catch (error) {
    releaseStream()
    throw error
  }
}

/** Acknowledges a stream, before anything else is sent on it. Does nothing if the stream has already ended. */
export function acknowledgeStream(hub: SubscriptionHub, stream: SubscriptionStream, filter: SubscriptionFilter): void {
  const { id, call } = stream
  if (stream.finish === undefined) return
  for (const key of stream.topicKeys) addStreamToTopic(hub, key, stream)
  stream.acknowledgedAt = hub.clock.monotonicNow()
  hub.events.emit?.({ type: 'stream_opened', call, topicCount: stream.topicKeys.length })
  scheduleExpiry(hub, stream)
  try {
    // Acknowledging may cause a change at once, so the stream is registered first. Nothing is sent in between.
    const params = { notifications: { ...filter } }
    call.notify(addSubscriptionId({ method: 'notifications/subscriptions/acknowledged', params }, id))
  } catch (error) {
    endStream(hub, stream, { reason: 'error', error })
  }
}

/** With an error, the call of the stream rejects. */
export type StreamEnd = { readonly reason: ServerEvents['stream_closed']['reason']; readonly error?: unknown }

/** Ends a stream and frees its resources. Its call resolves with a result, or rejects if there is an error. */
export function endStream(hub: SubscriptionHub, stream: SubscriptionStream, end: StreamEnd): void {
  const { id, finish, call, topicKeys, acknowledgedAt, resultMeta } = stream
  if (finish === undefined) return
  stream.finish = undefined
  stream.missedKeys = undefined
  if (acknowledgedAt !== undefined) {
    for (const key of topicKeys) removeListener(hub, key, stream)
    const durationMs = hub.clock.monotonicNow() - acknowledgedAt
    hub.events.emit?.({ type: 'stream_closed', call, durationMs, reason: end.reason })
  }
  offCancel(call, stream.onCancelled)
  hub.clock.clearTimeout(stream.slowReaderTimer)
  hub.clock.clearTimeout(stream.expiryTimer)
  hub.busSubscription.release()
  stream.release()
  if ('error' in end) return finish(Promise.reject(end.error))
  // basic/patterns/subscriptions, graceful closure.
  finish({ resultType: 'complete', _meta: { ...resultMeta, [metaKeys.subscriptionId]: id } })
}

/**
 * Notifies a stream of a changed topic. While the reader is slow, changes are only recorded, each topic once, so that
 * the record never exceeds the filter. A reader that stays slow is disconnected.
 */
export function notifyStream(hub: SubscriptionHub, stream: SubscriptionStream, key: string): void {
  if (stream.finish === undefined) return
  if (stream.missedKeys !== undefined) {
    stream.missedKeys.add(key)
    return
  }
  const { call, id } = stream
  try {
    const drainPromise = call.context.get(backPressureKey)?.()
    if (drainPromise === undefined) return call.notify(addSubscriptionId(createChangeNotice(key), id))
    stream.missedKeys = new Set([key])
    waitForReader(hub, stream, drainPromise)
  } catch (error) {
    // Only this stream ends with the error; the others are notified too.
    endStream(hub, stream, { reason: 'error', error })
  }
}

function waitForReader(hub: SubscriptionHub, stream: SubscriptionStream, drainPromise: Promise<void>): void {
  const { clock, slowReaderTimeoutMs } = hub
  stream.slowReaderTimer = clock.setTimeout(
    () => endStream(hub, stream, { reason: 'slow_reader', error: slowReaderError(slowReaderTimeoutMs) }),
    slowReaderTimeoutMs,
  )
  const catchUp = (): void => {
    const { missedKeys } = stream
    if (missedKeys === undefined) return
    clock.clearTimeout(stream.slowReaderTimer)
    stream.missedKeys = undefined
    for (const key of missedKeys) notifyStream(hub, stream, key)
  }
  void drainPromise.then(catchUp, catchUp)
}

function slowReaderError(ms: number): McpError {
  const message = `The subscription was ended, because its reader did not catch up within ${ms} ms: listen again`
  return new McpError(errorCodes.internal, message)
}

function addStreamToTopic({ streamsByTopic }: SubscriptionHub, key: string, stream: SubscriptionStream): void {
  const existingListeners = streamsByTopic.get(key)
  if (existingListeners === undefined) streamsByTopic.set(key, stream)
  else if (existingListeners instanceof Set) existingListeners.add(stream)
  else streamsByTopic.set(key, new Set([existingListeners, stream]))
}

function removeListener({ streamsByTopic }: SubscriptionHub, key: string, stream: SubscriptionStream): void {
  const listeners = streamsByTopic.get(key)
  if (listeners instanceof Set) {
    listeners.delete(stream)
    if (listeners.size > 0) return
  }
  streamsByTopic.delete(key)
}

/**
 * Ends a stream when its caller's token expires. A token may outlive the longest timer, and the system clock may be
 * changed, so the remaining time is computed again when the timer fires.
 */
function scheduleExpiry(hub: SubscriptionHub, stream: SubscriptionStream): void {
  const expiresAt = stream.call.principal?.expiresAt
  if (expiresAt === undefined) return
  const remainingMs = expiresAt - hub.wallClock()
  if (remainingMs <= 0) return endStream(hub, stream, { reason: 'expired' })
  stream.expiryTimer = hub.clock.setTimeout(() => scheduleExpiry(hub, stream), Math.min(remainingMs, maxTimerMs))
}
