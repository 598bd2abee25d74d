import { type Clock, platformClock, quieten } from '@x/schema'
import { SessionUsageError } from './session-usage-error.ts'
import type { Awaitable } from './session-options.ts'

/** How something is opened for a session, and closed. */
export interface SessionResourcesOptions<Resource> {
  /** Opens it, when a handler first asks for it at this instance. */
  readonly open: (session: { readonly id: string; readonly expiresAt: number }) => Awaitable<Resource>
  /** Closes it: the session was deleted here, or has expired, or the process ends. What it throws goes to `onError`. */
  readonly close: (resource: Resource) => Awaitable<void>
  /** How many are open at once; 1000 when absent. A handler that asks for one more is refused. */
  readonly maxOpen?: number | undefined
  readonly onError?: ((error: unknown) => void) | undefined
  readonly clock?: Clock | undefined
  /** Milliseconds since 1970; `Date.now` when absent. */
  readonly now?: (() => number) | undefined
}

/**
 * What sessions hold open in one process, such as editors or connections. Any instance may serve a session, and each opens its own: a
 * resource speeds calls up, and must not be the only place where something is.
 */
export interface SessionResources<Resource> extends AsyncDisposable {
  /** The resource of a session; it is opened once, however many calls ask for it at the same time. */
  of(session: { readonly id: string; readonly expiresAt: number }): Promise<Resource>
  /** Closes what a session has open here, for `onDelete`. */
  end(id: string): Promise<void>
  /** How many are open. */
  readonly size: number
  /** Closes them all. */
  close(): Promise<void>
}

interface Held<Resource> {
  readonly resource: Promise<Resource>
  timer: unknown
}

// The platforms' timers hold 31 bits.
const maxTimer = 2_147_483_647

/** Opens a resource for each session that asks, and closes it when the session ends. */
export function sessionResources<Resource>(options: SessionResourcesOptions<Resource>): SessionResources<Resource> {
  const { maxOpen = 1000, clock = platformClock, now = () => Date.now(), onError = () => {} } = options
  const held = new Map<string, Held<Resource>>()

  async function end(id: string): Promise<void> {
    const one = held.get(id)
    if (one === undefined) return
    held.delete(id)
    clock.clearTimeout(one.timer)
    try {
      await options.close(await one.resource)
    } catch (error) {
      onError(error)
    }
  }

  function awaitExpiry(one: Held<Resource>, id: string, expiresAt: number): void {
    const left = expiresAt - now()
    const look = (): void => (expiresAt > now() ? awaitExpiry(one, id, expiresAt) : void end(id))
    one.timer = clock.setTimeout(look, Math.min(Math.max(left, 0), maxTimer))
    // A session that is still open must not keep a process alive.
    quieten(one.timer)
  }

  function open(session: { readonly id: string; readonly expiresAt: number }): Promise<Resource> {
    const { id, expiresAt } = session
    if (held.size >= maxOpen) {
      throw new SessionUsageError(`${maxOpen} sessions have something open here: allow more with maxOpen`)
    }
    const one: Held<Resource> = { resource: (async () => options.open(session))(), timer: undefined }
    held.set(id, one)
    awaitExpiry(one, id, expiresAt)
    one.resource.catch(() => {
      // What could not be opened is tried again by the next call.
      if (held.get(id) === one) held.delete(id)
      clock.clearTimeout(one.timer)
    })
    return one.resource
  }

  const close = async (): Promise<void> => void (await Promise.all([...held.keys()].map(end)))
  return {
    of: async (session) => held.get(session.id)?.resource ?? open(session),
    end,
    get size() {
      return held.size
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}
