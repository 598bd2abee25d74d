import { onAbort } from '@x/schema'
import { isClientError } from '../request/client-error.ts'
import { endedError, type FreshPart, debounceWork, type DebouncedWork } from './fresh-part.ts'
import { subscriberOf, type Subscribers, createSubscribers } from './changes.ts'
import type { Subscription, SubscriptionEvent } from './subscription.ts'

// The number that `@x/server` accepts in one filter by default.
const maxResources = 100

interface OpenStream {
  readonly subscription: Subscription
  readonly resources: Subscribers
}

/**
 * Subscribes to the cached resources, and reads those again that change. A filter cannot be changed, so further
 * resources need another subscription; the previous one is closed once that is open. Resolves when the signal aborts or
 * the subscription ends for good.
 */
export async function keepResourcesFresh(part: FreshPart): Promise<void> {
  const { listen, partition, clock, jitterMs, options, signal, failed } = part
  const reread = createReread(part)
  // The open subscription, and the last one, which may not be open yet.
  let open: OpenStream | undefined
  let last: OpenStream | undefined
  let end = (): void => {}
  const ended = new Promise<void>((resolve) => void (end = resolve))
  let isLost = false

  const opened = async (stream: OpenStream): Promise<void> => {
    if (stream !== last || stream === open) return
    const before = open
    open = stream
    await before?.subscription.close()
  }
  const follow = async (stream: OpenStream): Promise<void> => {
    for await (const event of stream.subscription) {
      reread.want(changedBy(event, stream.resources))
      if (event.type === 'opened') await opened(stream)
    }
    // A replaced subscription was closed here.
    if (stream === last) lost(endedError())
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
    const resources = createSubscribers(watchedUris(part).slice(-maxResources))
    last = { subscription: listen({ resourceSubscriptions: [...resources.uris] }, options), resources }
    // Its end is not awaited: this work is done when it has started.
    void follow(last).catch(lost)
  }
  const debouncedListen = debounceWork({ work, failed: lost, jitterMs, clock })
  const unsubscribe = partition.onStored(({ method, params }) => {
    if (method === 'resources/read' && !last?.resources.uris.has(String(params.uri))) debouncedListen.want()
  })
  if (watchedUris(part).length > 0) debouncedListen.want()
  if (signal.aborted) end()
  else onAbort(signal, end)

  await ended
  unsubscribe()
  debouncedListen.stop()
  reread.stop()
  await Promise.all([open?.subscription.close(), last?.subscription.close()])
}

function watchedUris({ partition }: FreshPart): string[] {
  const uris: string[] = []
  partition.each(({ method, params }) => {
    if (method === 'resources/read' && typeof params.uri === 'string') uris.push(params.uri)
  })
  return uris
}

function changedBy(event: SubscriptionEvent, resources: Subscribers): readonly string[] {
  if (event.type === 'opened') return event.missed ? [...resources.uris] : []
  if (event.type !== 'resourceUpdated') return []
  const holder = subscriberOf(event.uri, resources)
  const itself = resources.uris.has(event.uri) ? [event.uri] : []
  return holder === undefined ? itself : [...itself, holder]
}

function createReread({ once, clock, jitterMs, signal, failed }: FreshPart): Pick<DebouncedWork, 'stop'> & {
  want(uris: readonly string[]): void
} {
  const changed = new Set<string>()
  const work = async (): Promise<void> => {
    // One after the other, because no caller waits for them.
    for (const uri of changed) {
      changed.delete(uri)
      try {
        // A server that asks for input first is asked again by the next caller of the resource.
        await once({ method: 'resources/read', params: { uri } }, { signal })
      } catch (error) {
        // Only the server's own statement concerns this resource alone.
        if (!isClientError(error) || error.code !== 'rpc') changed.clear()
        failed(error)
      }
    }
  }
  const debounced = debounceWork({ work, failed, jitterMs, clock })
  return {
    want: (uris) => {
      for (const uri of uris) changed.add(uri)
      if (uris.length > 0) debounced.want()
    },
    stop: debounced.stop,
  }
}
