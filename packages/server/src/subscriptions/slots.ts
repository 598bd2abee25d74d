import { errorCodes, McpError, type Principal, principalIdentity } from '@x/schema'
import type { SubscriptionSettings } from './options.ts'

/** Takes a place for a stream, which the function that is returned gives back. Throws McpError when there is none. */
export type TakeSlot = (principal: Principal | undefined) => () => void

/** Counts the streams of a server, and those of each authenticated principal. */
export function createSlots(limits: Pick<SubscriptionSettings, 'maxStreams' | 'maxStreamsPerPrincipal'>): TakeSlot {
  const { maxStreams, maxStreamsPerPrincipal } = limits
  const byPrincipal = new Map<string, number>()
  let open = 0
  return (principal) => {
    if (open >= maxStreams) throw refusal('This server has as many subscriptions open as it may: try again later')
    const key = principal && JSON.stringify(principalIdentity(principal))
    const own = key === undefined ? 0 : (byPrincipal.get(key) ?? 0)
    if (own >= maxStreamsPerPrincipal) {
      throw refusal(`You have ${own} subscriptions open, which is as many as you may: end one of them first`)
    }
    open += 1
    if (key !== undefined) byPrincipal.set(key, own + 1)
    return () => {
      open -= 1
      if (key !== undefined) giveBack(byPrincipal, key)
    }
  }
}

function giveBack(byPrincipal: Map<string, number>, key: string): void {
  const left = (byPrincipal.get(key) ?? 0) - 1
  if (left > 0) byPrincipal.set(key, left)
  else byPrincipal.delete(key)
}

function refusal(message: string): McpError {
  return new McpError(errorCodes.internal, message)
}
