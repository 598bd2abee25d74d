import { type Clock, errorRecord, type Log, openAbortScope, platformRuntime } from '@x/core'
import type { AsyncResource } from '@x/exchange'
import type { SubscriptionFilter } from '@x/schema'
import type { OpenedPartition } from '../caching/cache-partition.ts'
import type { SendOnce } from '../request/request.ts'
import { type ListFetchers, keepListsFresh } from './fresh-lists.ts'
import { keepResourcesFresh } from './fresh-resources.ts'
import { type ListenFunction, createListen, type ListenContext } from './listen.ts'
import type { ListenOptions, Subscription } from './subscription.ts'

/** Options of `client.keepFresh`. An abort of `signal` has the effect of `close()`. */
export interface KeepFreshOptions extends ListenOptions {
  /** Also subscribes to the cached resources, at most the last 100, and reads a resource again when it changes. */
  readonly resources?: boolean | undefined
}

const defaults = { resources: false } satisfies KeepFreshOptions

/**
 * Milliseconds within which a changed result is read again. The delay is random, so that the clients of a server do not
 * all read at once. A call that needs the changed result does not wait for the delay.
 */
const jitterMs = 1000

/** The handle of `client.keepFresh`, with which its work is ended. */
export interface KeepFresh extends AsyncResource {
  /** Ends the subscriptions that keep the cache fresh. Resolves when they have ended. */
  close(): Promise<void>
}

/** The parts of the client that keep its cache fresh. */
interface KeepFreshContext {
  readonly listen: ListenFunction
  readonly sendOnce: SendOnce
  readonly partition: OpenedPartition
  readonly clock: Clock | undefined
  readonly log: Log
  /** True if the client has a cache. */
  readonly isCacheEnabled: boolean
  readonly listFetchers: ListFetchers
}

/** Creates the function that keeps a cache fresh (server/utilities/caching, interaction with notifications). */
function createKeepFresh(context: KeepFreshContext): (options?: KeepFreshOptions) => KeepFresh {
  const { listen, sendOnce, partition, clock = platformRuntime, log, isCacheEnabled, listFetchers } = context
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

/** The calls of a client that subscribe to changes (basic/patterns/subscriptions). */
export interface SubscriptionCalls {
  /**
   * Subscribes to changes as soon as it is called, and not only when the events are read. Opens the stream again when it
   * ends.
   * Each change automatically makes the affected cached results stale.
   *
   * @example
   * for await (const event of client.listen({ toolsListChanged: true })) {
   *   if (event.type === 'toolsListChanged') show(await client.listTools())
   * }
   */
  listen(filter: SubscriptionFilter, options?: ListenOptions): Subscription
  /**
   * Subscribes to changes of the lists. When a list changes that a caller has read before, reads it again, so that the
   * next call finds it in the cache. Continues until it or the connection is closed, or the server rejects the
   * subscription for good. Such an end is written to the client's `log`. Throws a `TypeError` if the client has no
   * cache.
   */
  keepFresh(options?: KeepFreshOptions): KeepFresh
}

/** Creates the calls that subscribe. */
export function createSubscriptionCalls(
  createContext: () => ListenContext & Omit<KeepFreshContext, 'listen'>,
): SubscriptionCalls {
  let calls: SubscriptionCalls | undefined
  // The calls are created on first use, because most clients never subscribe.
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
