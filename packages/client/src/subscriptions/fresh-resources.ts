import { onAbort } from '@x/schema'
import { isClientError } from '../client-error.ts'
import { endedError, type FreshPart } from './fresh-part.ts'
import { createSoon, type Soon } from './soon.ts'
import { holderOf, type Holders, holders } from './sub-resources.ts'
import type { Subscription, SubscriptionEvent } from './subscription.ts'

// As many as a server of ours takes in one filter unless told otherwise.
const mostResources = 1000

interface Hearing {
  readonly subscription: Subscription
  readonly resources: Holders
}

/**
 * Listens to the resources that are kept, and reads those again that change. A filter cannot be changed, so for resources that were
 * kept since, another subscription is opened, and the one before is closed once that is open. Resolves when the signal
 * aborts or changes can be heard no longer.
 */
export async function keepResourcesFresh(part: FreshPart): Promise<void> {
  const { listen, kept, clock, spreadMs, how, signal, failed } = part
  const reading = readAgain(part)
  // The one that is open, and the last one, which may not be open yet.
  let open: Hearing | undefined
  let last: Hearing | undefined
  let end = (): void => {}
  const ended = new Promise<void>((resolve) => void (end = resolve))
  let isLost = false

  const opened = async (hearing: Hearing): Promise<void> => {
    if (hearing !== last || hearing === open) return
    const before = open
    open = hearing
    await before?.subscription.close()
  }
  const follow = async (hearing: Hearing): Promise<void> => {
    for await (const event of hearing.subscription) {
      reading.want(changedBy(event, hearing.resources))
      if (event.type === 'opened') await opened(hearing)
    }
    // One that was replaced was closed here.
    if (hearing === last) lost(endedError())
  }
  const lost = (error: unknown): void => {
    if (isLost) return
    isLost = true
    end()
    failed(error)
  }
  const work = async (): Promise<void> => {
    const unopened = last === open ? undefined : last
    last = open
    await unopened?.subscription.close()
    const resources = holders(keptUris(part).slice(-mostResources))
    last = { subscription: listen({ resourceSubscriptions: [...resources.uris] }, how), resources }
    // Its end is its own affair: this work is done when it has begun.
    void follow(last).catch(lost)
  }
  const listening = createSoon({ work, failed: lost, spreadMs, clock })
  const stopNoting = kept.onKept(({ method, params }) => {
    if (method === 'resources/read' && !last?.resources.uris.has(String(params.uri))) listening.want()
  })
  if (keptUris(part).length > 0) listening.want()
  if (signal.aborted) end()
  else onAbort(signal, end)

  await ended
  stopNoting()
  listening.stop()
  reading.stop()
  await Promise.all([open?.subscription.close(), last?.subscription.close()])
}

function keptUris({ kept }: FreshPart): string[] {
  const uris: string[] = []
  kept.each(({ method, params }) => {
    if (method === 'resources/read' && typeof params.uri === 'string') uris.push(params.uri)
  })
  return uris
}

function changedBy(event: SubscriptionEvent, resources: Holders): readonly string[] {
  if (event.type === 'opened') return event.missed ? [...resources.uris] : []
  if (event.type !== 'resourceUpdated') return []
  const holder = holderOf(event.uri, resources)
  const itself = resources.uris.has(event.uri) ? [event.uri] : []
  return holder === undefined ? itself : [...itself, holder]
}

function readAgain({ once, clock, spreadMs, signal, failed }: FreshPart): Pick<Soon, 'stop'> & {
  want(uris: readonly string[]): void
} {
  const changed = new Set<string>()
  const work = async (): Promise<void> => {
    // One after the other, because nobody waits for them.
    for (const uri of changed) {
      changed.delete(uri)
      try {
        // A server that asks for input first is asked again by whoever wants the resource.
        await once({ method: 'resources/read', params: { uri } }, { signal })
      } catch (error) {
        // Only what the server says is about this resource alone.
        if (!isClientError(error) || error.code !== 'rpc') changed.clear()
        failed(error)
      }
    }
  }
  const soon = createSoon({ work, failed, spreadMs, clock })
  return {
    want: (uris) => {
      for (const uri of uris) changed.add(uri)
      if (uris.length > 0) soon.want()
    },
    stop: soon.stop,
  }
}
