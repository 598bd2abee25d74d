import { abortReasonOf, type Clock, type Ledger, maxTimerMs, offCancel, onCancel } from '@x/core'
import {
  backPressureKey,
  type Call,
  errorCodes,
  type JsonObject,
  McpError,
  metaKeys,
  type RequestId,
  type RpcNotification,
  type SubscriptionFilter,
} from '@x/schema'
import type { SharedBusSubscription } from './bus-subscription.ts'
import { addSubscriptionId, createChangeNotice, topicKeysOf } from './topics.ts'

/** The streams of a topic: most have one, for which a set would be most of the memory of a topic. */
export type StreamListeners = SubscriptionStream | Set<SubscriptionStream>

/** The state that all streams of a server share. */
export interface SubscriptionHub {
  /** The streams of each topic, by {@link topicKeysOf}. */
  readonly streamsByTopic: Map<string, StreamListeners>
  readonly clock: Clock
  /** Milliseconds since 1970. */
  readonly wallClock: () => number
  readonly slowReaderTimeoutMs: number
  readonly ledger: Ledger
  readonly busSubscription: SharedBusSubscription
}

/**
 * One `subscriptions/listen` request: there may be thousands, so that each is one record. Nothing else of the request
 * stays in memory, and no function waits until it ends.
 */
export interface SubscriptionStream {
  readonly id: RequestId
  readonly call: Call
  /** The `_meta` that the server's results have. */
  readonly resultMeta: JsonObject
  /** Gives the stream and its topics back to the ledger. */
  readonly release: () => void
  /** The keys of its topics. */
  readonly topicKeys: readonly string[]
  isAcknowledged: boolean
  /** The keys of what changed while the reader was behind, undefined when it is not. */
  missedKeys: Set<string> | undefined
  /** The timers that would end it. */
  slowReaderTimer: unknown
  expiryTimer: unknown
  /** Called when the call is cancelled. */
  readonly onCancelled: () => void
  /** Settles the call with the result, or with a promise that rejects, undefined once it has ended. */
  finish: ((outcome: JsonObject | Promise<never>) => void) | undefined
}

/** The parameters of a stream. */
export interface Subscription {
  readonly id: RequestId
  readonly call: Call
  /** The key by which the ledger counts the caller. */
  readonly callerKey: string
  /** The accepted filter, which is acknowledged. */
  readonly filter: SubscriptionFilter
  /** The `_meta` that the server's results have. */
  readonly resultMeta: JsonObject
}

/**
 * Creates a stream that sends nothing yet. Throws `LimitError` when the caller, or the server, has as many as the
 * bound.
 */
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
    isAcknowledged: false,
    missedKeys: undefined,
    slowReaderTimer: undefined,
    expiryTimer: undefined,
    onCancelled: () =>
      endStream(hub, stream, stream.isAcknowledged ? undefined : { error: abortReasonOf(stream.call) }),
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

/** Acknowledges a stream before anything else is sent on it. One that has ended meanwhile stays silent. */
export function acknowledgeStream(hub: SubscriptionHub, stream: SubscriptionStream, filter: SubscriptionFilter): void {
  const { id, call } = stream
  if (stream.finish === undefined) return
  for (const key of stream.topicKeys) addStreamToTopic(hub, key, stream)
  stream.isAcknowledged = true
  scheduleExpiry(hub, stream)
  try {
    // A subscriber may publish at once, so the stream is registered before it is acknowledged. Nothing is sent in
    // between.
    call.notify(createAcknowledgement({ id, filter }))
  } catch (error) {
    endStream(hub, stream, { error })
  }
}

/** Ends a stream, in good order unless an error is given. Nothing of it stays. */
export function endStream(
  hub: SubscriptionHub,
  stream: SubscriptionStream,
  failure?: { readonly error: unknown },
): void {
  const { id, finish, call, topicKeys, isAcknowledged, resultMeta } = stream
  if (finish === undefined) return
  stream.finish = undefined
  stream.missedKeys = undefined
  if (isAcknowledged) for (const key of topicKeys) removeListener(hub, key, stream)
  offCancel(call, stream.onCancelled)
  hub.clock.clearTimeout(stream.slowReaderTimer)
  hub.clock.clearTimeout(stream.expiryTimer)
  hub.busSubscription.release()
  stream.release()
  if (failure !== undefined) return finish(Promise.reject(failure.error))
  // basic/patterns/subscriptions, graceful closure.
  finish({ resultType: 'complete', _meta: { ...resultMeta, [metaKeys.subscriptionId]: id } })
}

/**
 * Notifies a stream that a topic has changed. While its reader is behind, changes are only noted, each topic once: the
 * notes can never exceed the filter. A reader that stays behind is disconnected.
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
    // The other streams are notified nonetheless.
    endStream(hub, stream, { error })
  }
}

function waitForReader(hub: SubscriptionHub, stream: SubscriptionStream, drainPromise: Promise<void>): void {
  const { clock, slowReaderTimeoutMs } = hub
  stream.slowReaderTimer = clock.setTimeout(
    () => endStream(hub, stream, { error: slowReaderError(slowReaderTimeoutMs) }),
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

function createAcknowledgement({ id, filter }: Pick<Subscription, 'id' | 'filter'>): RpcNotification {
  const params = { notifications: { ...filter } }
  return addSubscriptionId({ method: 'notifications/subscriptions/acknowledged', params }, id)
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
 * Ends a stream when the token of its caller expires. A timer cannot be as long as a token lives, and the clock of the
 * machine may be set, so the remaining time is computed again when the timer fires.
 */
function scheduleExpiry(hub: SubscriptionHub, stream: SubscriptionStream): void {
  const expiresAt = stream.call.principal?.expiresAt
  if (expiresAt === undefined) return
  const remainingMs = expiresAt - hub.wallClock()
  if (remainingMs <= 0) return endStream(hub, stream)
  stream.expiryTimer = hub.clock.setTimeout(() => scheduleExpiry(hub, stream), Math.min(remainingMs, maxTimerMs))
}
