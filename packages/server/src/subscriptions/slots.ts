import { errorCodes, McpError, type Principal, principalIdentity } from '@x/schema'
import type { SubscriptionSettings } from './options.ts'

/** The places of a server for streams, all of them and those of each authenticated principal. */
export interface Slots {
  readonly maxStreams: number
  readonly maxStreamsPerPrincipal: number
  readonly byPrincipal: Map<string, number>
  open: number
}

/** A place that was taken: the key of the principal who has it, undefined for nobody in particular. */
export type Slot = string | undefined

/** Makes the places of a server. */
export function createSlots(limits: Pick<SubscriptionSettings, 'maxStreams' | 'maxStreamsPerPrincipal'>): Slots {
  const { maxStreams, maxStreamsPerPrincipal } = limits
  return { maxStreams, maxStreamsPerPrincipal, byPrincipal: new Map(), open: 0 }
}

/** Takes a place for a stream, which {@link giveBackSlot} gives back. Throws McpError when there is none. */
export function takeSlot(slots: Slots, principal: Principal | undefined): Slot {
  const { maxStreams, maxStreamsPerPrincipal, byPrincipal } = slots
  if (slots.open >= maxStreams) throw refusal('This server has as many subscriptions open as it may: try again later')
  const key = principal && JSON.stringify(principalIdentity(principal))
  const own = key === undefined ? 0 : (byPrincipal.get(key) ?? 0)
  if (own >= maxStreamsPerPrincipal) {
    throw refusal(`You have ${own} subscriptions open, which is as many as you may: end one of them first`)
  }
  slots.open += 1
  if (key !== undefined) byPrincipal.set(key, own + 1)
  return key
}

/** Gives a place back, once. */
export function giveBackSlot(slots: Slots, slot: Slot): void {
  slots.open -= 1
  if (slot === undefined) return
  const left = (slots.byPrincipal.get(slot) ?? 0) - 1
  if (left > 0) slots.byPrincipal.set(slot, left)
  else slots.byPrincipal.delete(slot)
}

function refusal(message: string): McpError {
  return new McpError(errorCodes.internal, message)
}
