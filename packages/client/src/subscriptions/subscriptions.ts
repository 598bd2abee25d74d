import type { SubscriptionFilter } from '@x/schema'
import { createKeepFresh, type FreshContext, type KeepFresh, type KeepFreshOptions } from './keep-fresh.ts'
import { createListen, type ListenContext } from './listen.ts'
import type { ListenOptions, Subscription } from './subscription.ts'

/** The calls of a client that subscribe to changes (basic/patterns/subscriptions). */
export interface SubscriptionCalls {
  /**
   * Listens for changes from this moment on, whether or not they are read at once, and opens the stream again when it ends. Each
   * change makes what the cache keeps of it stale by itself.
   *
   * @example
   * for await (const event of client.listen({ toolsListChanged: true })) {
   *   if (event.type === 'toolsListChanged') show(await client.listTools())
   * }
   */
  listen(filter: SubscriptionFilter, options?: ListenOptions): Subscription
  /**
   * Subscribes to changes of the lists, as far as the server reports them, and reads those lists again that are in use,
   * so that the next call finds them in the cache. Ends when it is closed; throws a `TypeError` when the client has no
   * cache.
   */
  keepFresh(options?: KeepFreshOptions): KeepFresh
}

/** Creates the calls that subscribe. */
export function createSubscriptionCalls(context: ListenContext & Omit<FreshContext, 'listen'>): SubscriptionCalls {
  const listen = createListen(context)
  return { listen, keepFresh: createKeepFresh({ ...context, listen }) }
}
