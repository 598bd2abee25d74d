import { errorRecord, type Log, openAbortScope } from '@x/core'
import type { AsyncResource } from '@x/exchange'
import type { SubscriptionFilter } from '@x/schema'
import { type ListFetchers, keepListsFresh } from './fresh-lists.ts'
import { keepResourcesFresh } from './fresh-resources.ts'
import { createListen, type ListenContext } from './listen.ts'
import type { RefreshContext } from './refresh-context.ts'
import type { ListenOptions, Subscription } from './subscription.ts'

/** Options of `client.keepFresh`. Aborting `signal` does what `close()` does. */
export interface KeepFreshOptions extends ListenOptions {
  /** Also subscribes to the cached resources, at most the last 100, and reads each again when it changes. */
  readonly resources?: boolean | undefined
}

const defaults = { resources: false } satisfies KeepFreshOptions

/**
 * Milliseconds within which a changed result is read again. Random, so that a server's clients do not all read at once;
 * a call that needs the result does not wait for it.
 */
const jitterMs = 1000

/** Ends the work of `client.keepFresh`. */
export interface KeepFresh extends AsyncResource {
  /** Resolves when the subscriptions that keep the cache fresh have ended. */
  close(): Promise<void>
}

interface KeepFreshContext extends Pick<RefreshContext, 'listen' | 'sendOnce' | 'partition' | 'clock'> {
  readonly log: Log
  readonly isCacheEnabled: boolean
  readonly listFetchers: ListFetchers
}

function createKeepFresh(context: KeepFreshContext): (options?: KeepFreshOptions) => KeepFresh {
  const { listen, sendOnce, partition, clock, log, isCacheEnabled, listFetchers } = context
  return ({ resources = defaults.resources, ...options } = {}) => {
    if (!isCacheEnabled) throw new TypeError('keepFresh needs a cache: leave out `cache: false` of createClient')
    const { signal, stop, close: closeAbortScope } = openAbortScope(options.signal)
    const reportError = (error: unknown): void => {
      if (!signal.aborted) log(errorRecord(error, { method: 'subscriptions/listen' }))
    }
    const refreshContext = {
      listen,
      sendOnce,
      partition,
      clock,
      jitterMs,
      options: { ...options, signal },
      signal,
      onError: reportError,
    }
    const refreshLoops = [
      keepListsFresh(refreshContext, listFetchers),
      ...(resources ? [keepResourcesFresh(refreshContext)] : []),
    ]
    const loopsEnd = Promise.all(refreshLoops).finally(closeAbortScope)
    const close = async (): Promise<void> => {
      stop(new DOMException('The cache is no longer kept fresh', 'AbortError'))
      await loopsEnd
    }
    return { close, [Symbol.asyncDispose]: close }
  }
}

/** Calls that subscribe to changes (basic/patterns/subscriptions). */
export interface SubscriptionCalls {
  /**
   * Subscribes to changes as soon as you call it, and not only when you read the events. When the stream ends, it is
   * opened again. Cached results become stale by themselves with each change.
   *
   * @example
   * for await (const event of client.listen({ toolsListChanged: true })) {
   *   if (event.type === 'toolsListChanged') show(await client.listTools())
   * }
   */
  listen(filter: SubscriptionFilter, options?: ListenOptions): Subscription
  /**
   * Subscribes to changes of the lists. When one changes that a caller has read before, it is read again, so that the
   * next call finds it in the cache. This continues until you close it or the connection, or until the server rejects
   * the subscription for good, which the client's `log` then says. Throws a `TypeError` if the client has no cache.
   */
  keepFresh(options?: KeepFreshOptions): KeepFresh
}

export function createSubscriptionCalls(
  createContext: () => ListenContext & Omit<KeepFreshContext, 'listen'>,
): SubscriptionCalls {
  let calls: SubscriptionCalls | undefined
  // Created on first use, because most clients never subscribe.
  const getCalls = (): SubscriptionCalls => (calls ??= createCalls(createContext()))
  return {
    listen: (filter, options) => getCalls().listen(filter, options),
    keepFresh: (options) => getCalls().keepFresh(options),
  }
}

function createCalls(context: ListenContext & Omit<KeepFreshContext, 'listen'>): SubscriptionCalls {
  const listen = createListen(context)
  return { listen, keepFresh: createKeepFresh({ ...context, listen }) }
}
