import { errorCodes, McpError, quotaError } from '@x/schema'
import type { SubscriptionSettings } from './options.ts'

type Limits = Pick<SubscriptionSettings, 'maxStreams' | 'maxStreamsPerCaller' | 'maxTopics' | 'maxTopicsPerCaller'>

/** The places of a server for streams and their topics, all of them and those of each caller. */
export interface Slots {
  readonly limits: Limits
  readonly byCaller: Map<string, Slot>
  open: number
  /** The topics of all streams that are open. */
  topics: number
}

/** The places that a caller has taken; its streams share the record. */
export interface Slot {
  readonly caller: string
  open: number
  topics: number
}

/** The user of a slot. */
export interface SlotRequest {
  /** The key of the caller. */
  readonly caller: string
  /** Topics of the stream. */
  readonly topics: number
}

/** Makes the places of a server. */
export function createSlots(limits: Limits): Slots {
  return { limits, byCaller: new Map(), open: 0, topics: 0 }
}

/** Takes a place for a stream, which {@link releaseSlot} gives back. Throws McpError when there is none. */
export function takeSlot(slots: Slots, { caller, topics }: SlotRequest): Slot {
  const { limits, byCaller } = slots
  const own = byCaller.get(caller) ?? { caller, open: 0, topics: 0 }
  // The caller's own limits first: it can do something about them.
  if (own.open >= limits.maxStreamsPerCaller) throw quotaReached(limits, 'maxStreamsPerCaller')
  if (own.topics + topics > limits.maxTopicsPerCaller) throw quotaReached(limits, 'maxTopicsPerCaller')
  if (slots.open >= limits.maxStreams) throw serverIsFull(limits, 'maxStreams')
  if (slots.topics + topics > limits.maxTopics) throw serverIsFull(limits, 'maxTopics')
  if (own.open === 0) byCaller.set(caller, own)
  count(slots, own, { streams: 1, topics })
  return own
}

/** Releases a slot and its topics, once. */
export function releaseSlot(slots: Slots, slot: Slot, topics: number): void {
  count(slots, slot, { streams: -1, topics: -topics })
  if (slot.open === 0) slots.byCaller.delete(slot.caller)
}

function count(slots: Slots, own: Slot, { streams, topics }: { streams: number; topics: number }): void {
  slots.open += streams
  slots.topics += topics
  own.open += streams
  own.topics += topics
}

/** Nobody knows when a stream ends; a client that asks again so soon costs little. */
const retryAfterMs = 1000

function quotaReached(limits: Limits, limit: 'maxStreamsPerCaller' | 'maxTopicsPerCaller'): McpError {
  return quotaError({ limit, max: limits[limit], retryAfterMs, advice: 'end a subscription' })
}

function serverIsFull(limits: Limits, limit: 'maxStreams' | 'maxTopics'): McpError {
  const message = `The subscriptions of this server have reached ${limit}, which is ${limits[limit]}`
  const data = { reason: 'overloaded', limit, max: limits[limit], retryAfterMs }
  return new McpError(errorCodes.internal, `${message}: try again in ${retryAfterMs} ms`, { data })
}
