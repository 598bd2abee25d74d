import { errorCodes, McpError, type Principal, principalIdentity } from '@x/schema'
import type { SubscriptionSettings } from './options.ts'

/**
 * The places of a server for streams and what they listen to, all of them and those of each authenticated principal.
 */
export interface Slots {
  readonly maxStreams: number
  readonly maxStreamsPerPrincipal: number
  readonly maxTopics: number
  readonly byPrincipal: Map<string, number>
  open: number
  /** The topics of all streams that are open. */
  topics: number
}

/** A place that was taken: the key of the principal who has it, undefined for nobody in particular. */
export type Slot = string | undefined

/** The user of a slot. */
export interface SlotRequest {
  readonly principal: Principal | undefined
  /** Topics of the stream. */
  readonly topics: number
}

/** Makes the places of a server. */
export function createSlots(
  limits: Pick<SubscriptionSettings, 'maxStreams' | 'maxStreamsPerPrincipal' | 'maxTopics'>,
): Slots {
  const { maxStreams, maxStreamsPerPrincipal, maxTopics } = limits
  return { maxStreams, maxStreamsPerPrincipal, maxTopics, byPrincipal: new Map(), open: 0, topics: 0 }
}

/** Takes a place for a stream, which {@link giveBackSlot} gives back. Throws McpError when there is none. */
export function takeSlot(slots: Slots, { principal, topics }: SlotRequest): Slot {
  const { maxStreams, maxStreamsPerPrincipal, maxTopics, byPrincipal } = slots
  if (slots.open >= maxStreams) throw slotError('This server has as many subscriptions open as it may: try again later')
  const key = principal && JSON.stringify(principalIdentity(principal))
  const own = key === undefined ? 0 : (byPrincipal.get(key) ?? 0)
  if (own >= maxStreamsPerPrincipal) {
    throw slotError(`You have ${own} subscriptions open, which is as many as you may: end one of them first`)
  }
  if (slots.topics + topics > maxTopics) {
    const message = `The subscriptions of this server have ${slots.topics} lists and URIs, the most is ${maxTopics}`
    throw slotError(`${message}: ask for fewer, or try again later`)
  }
  slots.open += 1
  slots.topics += topics
  if (key !== undefined) byPrincipal.set(key, own + 1)
  return key
}

/** Releases a slot and its topics, once. */
export function giveBackSlot(slots: Slots, slot: Slot, topics: number): void {
  slots.open -= 1
  slots.topics -= topics
  if (slot === undefined) return
  const left = (slots.byPrincipal.get(slot) ?? 0) - 1
  if (left > 0) slots.byPrincipal.set(slot, left)
  else slots.byPrincipal.delete(slot)
}

function slotError(message: string): McpError {
  return new McpError(errorCodes.internal, message)
}
