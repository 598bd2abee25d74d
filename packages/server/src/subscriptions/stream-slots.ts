import { errorCodes, McpError, quotaError } from '@x/schema'
import type { SubscriptionSettings } from './options.ts'

type SlotLimits = Pick<SubscriptionSettings, 'maxStreams' | 'maxStreamsPerCaller' | 'maxTopics' | 'maxTopicsPerCaller'>

/** The places of a server for streams and their topics, all of them and those of each caller. */
export interface StreamSlots {
  readonly limits: SlotLimits
  readonly byCaller: Map<string, CallerSlots>
  openStreamCount: number
  /** The topics of all streams that are open. */
  usedTopicCount: number
}

/** The places that a caller has taken; its streams share the record. */
export interface CallerSlots {
  readonly callerKey: string
  openStreamCount: number
  usedTopicCount: number
}

/** The user of a slot. */
export interface SlotRequest {
  /** The key of the caller. */
  readonly callerKey: string
  /** Topics of the stream. */
  readonly topicCount: number
}

/** Makes the places of a server. */
export function createStreamSlots(limits: SlotLimits): StreamSlots {
  return { limits, byCaller: new Map(), openStreamCount: 0, usedTopicCount: 0 }
}

/** Takes a place for a stream, which {@link releaseSlot} gives back. Throws McpError when there is none. */
export function takeSlot(slots: StreamSlots, { callerKey, topicCount }: SlotRequest): CallerSlots {
  const { limits, byCaller } = slots
  const callerSlots = byCaller.get(callerKey) ?? { callerKey, openStreamCount: 0, usedTopicCount: 0 }
  // The caller's own limits first: it can do something about them.
  if (callerSlots.openStreamCount >= limits.maxStreamsPerCaller) throw quotaReachedError(limits, 'maxStreamsPerCaller')
  if (callerSlots.usedTopicCount + topicCount > limits.maxTopicsPerCaller)
    throw quotaReachedError(limits, 'maxTopicsPerCaller')
  if (slots.openStreamCount >= limits.maxStreams) throw serverFullError(limits, 'maxStreams')
  if (slots.usedTopicCount + topicCount > limits.maxTopics) throw serverFullError(limits, 'maxTopics')
  if (callerSlots.openStreamCount === 0) byCaller.set(callerKey, callerSlots)
  adjustCounts(slots, callerSlots, { streamDelta: 1, topicDelta: topicCount })
  return callerSlots
}

/** Releases a slot and its topics, once. */
export function releaseSlot(slots: StreamSlots, callerSlots: CallerSlots, topicCount: number): void {
  adjustCounts(slots, callerSlots, { streamDelta: -1, topicDelta: -topicCount })
  if (callerSlots.openStreamCount === 0) slots.byCaller.delete(callerSlots.callerKey)
}

function adjustCounts(
  slots: StreamSlots,
  callerSlots: CallerSlots,
  { streamDelta, topicDelta }: { streamDelta: number; topicDelta: number },
): void {
  slots.openStreamCount += streamDelta
  slots.usedTopicCount += topicDelta
  callerSlots.openStreamCount += streamDelta
  callerSlots.usedTopicCount += topicDelta
}

/** Nobody knows when a stream ends; a client that asks again so soon costs little. */
const retryAfterMs = 1000

function quotaReachedError(limits: SlotLimits, limit: 'maxStreamsPerCaller' | 'maxTopicsPerCaller'): McpError {
  return quotaError({ limit, max: limits[limit], retryAfterMs, advice: 'end a subscription' })
}

function serverFullError(limits: SlotLimits, limit: 'maxStreams' | 'maxTopics'): McpError {
  const message = `The subscriptions of this server have reached ${limit}, which is ${limits[limit]}`
  const data = { reason: 'overloaded', limit, max: limits[limit], retryAfterMs }
  return new McpError(errorCodes.internal, `${message}: try again in ${retryAfterMs} ms`, { data })
}
