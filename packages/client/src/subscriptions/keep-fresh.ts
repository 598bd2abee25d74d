import { type Clock, platformClock } from '@x/schema'
import type { KeptResults } from '../caching/kept-results.ts'
import type { SendOnce } from '../request/request.ts'
import { openWait } from '../rounds/wait.ts'
import { type AskForLists, keepListsFresh } from './fresh-lists.ts'
import { keepResourcesFresh } from './fresh-resources.ts'
import type { Listen } from './listen.ts'
import type { ListenOptions } from './subscription.ts'

/** What `client.keepFresh` takes. `signal` ends it, as closing does. */
export interface KeepFreshOptions extends ListenOptions {
  /** Also listens to the resources that are kept in the cache, the last 1,000 of them, and reads those again that change. */
  readonly resources?: boolean | undefined
  /**
   * What changed is asked for again at a random moment within this time, in milliseconds, so that the clients of a server do not all
   * come at once. Default 1000. Who asks earlier is answered earlier.
   */
  readonly spreadMs?: number | undefined
  /** Told when changes can be heard no longer, and of what could not be asked for again. Calls go on without. */
  readonly onError?: ((error: unknown) => void) | undefined
}

/** A cache that is kept fresh until this is closed. */
export interface KeepFresh extends AsyncDisposable {
  /** Ends the subscriptions. Resolves when nothing of them is left. */
  close(): Promise<void>
}

/** What keeping fresh needs of its client. */
export interface FreshContext {
  readonly listen: Listen
  readonly once: SendOnce
  readonly kept: KeptResults
  readonly clock: Clock | undefined
  /** Whether results are kept at all. */
  readonly isKeeping: boolean
  readonly lists: AskForLists
}

/** Makes the function that keeps a cache fresh (server/utilities/caching, interaction with notifications). */
export function createKeepFresh(context: FreshContext): (options?: KeepFreshOptions) => KeepFresh {
  const { listen, once, kept, clock = platformClock, isKeeping, lists } = context
  return ({ resources = false, spreadMs = 1000, onError, ...options } = {}) => {
    if (!isKeeping) throw new TypeError('keepFresh needs a cache: leave out `cache: false` of createClient')
    const late = (): Error => new Error('keeping fresh is never late')
    const { signal, stop, close: letGo } = openWait({ signal: options.signal, timeoutMs: undefined, clock, late })
    const failed = (error: unknown): void => {
      if (!signal.aborted) onError?.(error)
    }
    const part = { listen, once, kept, clock, spreadMs, how: { ...options, signal }, signal, failed }
    const parts = [keepListsFresh(part, lists), ...(resources ? [keepResourcesFresh(part)] : [])]
    const done = Promise.all(parts).finally(letGo)
    const close = async (): Promise<void> => {
      stop(new DOMException('The cache is kept fresh no longer', 'AbortError'))
      await done
    }
    return { close, [Symbol.asyncDispose]: close }
  }
}
