import { onCancel } from '@x/core'
import { isAnswered, isClientError } from '../request/client-error.ts'
import { subscriptionEndedError, type RefreshContext, debounceWork } from './refresh-context.ts'
import { findContainingUri, type SubscribedUris, createSubscribedUris } from '../caching/changes.ts'
import type { Subscription } from './subscription.ts'
import type { SubscriptionEvent } from '../caching/changes.ts'

// Maximum number of subscribed resources, which is what `@x/server` accepts in one filter by default.
const maxWatchedResources = 100

interface OpenStream {
  readonly subscription: Subscription
  readonly resources: SubscribedUris
}

/**
 * Subscribes to the cached resources, and reads each again when it changes. A subscription's filter cannot change, so
 * for further resources a new subscription is opened before the previous one is closed. Resolves when the signal
 * aborts, or the subscription ends for good.
 */
export async function keepResourcesFresh(context: RefreshContext): Promise<void> {
  const { listen, partition, options, signal, onError } = context
  const debouncedReader = createDebouncedReader(context)
  // One is open; the latest may still be opening.
  let openStream: OpenStream | undefined
  let lastStream: OpenStream | undefined
  let resolveEnded = (): void => {}
  const endedPromise = new Promise<void>((resolve) => void (resolveEnded = resolve))
  let isLost = false

  const onStreamOpened = async (stream: OpenStream): Promise<void> => {
    if (stream !== lastStream || stream === openStream) return
    const previousStream = openStream
    openStream = stream
    await previousStream?.subscription.close()
  }
  const followEvents = async (stream: OpenStream): Promise<void> => {
    for await (const event of stream.subscription) {
      debouncedReader.requestRead(changedUrisOf(event, stream.resources))
      if (event.type === 'opened') await onStreamOpened(stream)
    }
    // Being replaced is no failure.
    if (stream === lastStream) onSubscriptionLost(subscriptionEndedError())
  }
  const onSubscriptionLost = (error: unknown): void => {
    if (isLost) return
    isLost = true
    resolveEnded()
    onError(error)
  }
  const resubscribe = async (): Promise<void> => {
    const unopenedStream = lastStream === openStream ? undefined : lastStream
    lastStream = openStream
    await unopenedStream?.subscription.close()
    const resources = createSubscribedUris(watchedUrisOf(context).slice(-maxWatchedResources))
    lastStream = { subscription: listen({ resourceSubscriptions: [...resources.uris] }, options), resources }
    // Returns as soon as the subscription has started, and does not wait for its end.
    void followEvents(lastStream).catch(onSubscriptionLost)
  }
  const debouncedListen = debounceWork(resubscribe, onSubscriptionLost, context)
  const unsubscribe = partition.onStored(({ method, params }) => {
    if (method === 'resources/read' && !lastStream?.resources.uris.has(String(params.uri))) debouncedListen.schedule()
  })
  if (watchedUrisOf(context).length > 0) debouncedListen.schedule()
  onCancel(signal, () => resolveEnded())

  await endedPromise
  unsubscribe()
  debouncedListen.stop()
  debouncedReader.stop()
  await Promise.all([openStream?.subscription.close(), lastStream?.subscription.close()])
}

function watchedUrisOf({ partition }: RefreshContext): string[] {
  const uris: string[] = []
  partition.forEach(({ method, params }) => {
    if (method === 'resources/read' && typeof params.uri === 'string') uris.push(params.uri)
  })
  return uris
}

function changedUrisOf(event: SubscriptionEvent, resources: SubscribedUris): readonly string[] {
  if (event.type === 'opened') return event.mayHaveMissedChanges ? [...resources.uris] : []
  if (event.type !== 'resourceUpdated') return []
  const subscribedUri = findContainingUri(event.uri, resources)
  const matchingUris = resources.uris.has(event.uri) ? [event.uri] : []
  return subscribedUri === undefined ? matchingUris : [...matchingUris, subscribedUri]
}

function createDebouncedReader({ sendOnce, clock, jitterMs, signal, onError }: RefreshContext): {
  requestRead(uris: readonly string[]): void
  stop(): void
} {
  // Bounded by the URIs that the host subscribes to: those of a server are looked up among them.
  const pendingUris = new Set<string>()
  const readPendingUris = async (): Promise<void> => {
    // One after the other, because no caller waits for them.
    for (const uri of pendingUris) {
      pendingUris.delete(uri)
      try {
        // If the server asks for input, nothing is stored; the next caller then reads the resource with its own
        // handlers.
        await sendOnce({ method: 'resources/read', params: { uri } }, { signal })
      } catch (error) {
        // An error response is about this resource alone. After any other failure, the rest are not read either.
        if (!isClientError(error) || !isAnswered(error)) pendingUris.clear()
        onError(error)
      }
    }
  }
  const debouncedReads = debounceWork(readPendingUris, onError, { jitterMs, clock })
  return {
    requestRead: (uris) => {
      for (const uri of uris) pendingUris.add(uri)
      if (uris.length > 0) debouncedReads.schedule()
    },
    stop: debouncedReads.stop,
  }
}
