import { type AsyncResource, type ErrorListener, errorListener, unref, type Runtime, runtimeOf } from '@x/schema'
import { SessionUsageError } from './session-usage-error.ts'
import type { Awaitable } from './session-options.ts'

/** The options of {@link sessionResources}. */
export interface SessionResourcesOptions<Resource> {
  /** Opens the resource, when a handler first asks for it at this instance. */
  readonly open: (session: { readonly id: string; readonly expiresAt: number }) => Awaitable<Resource>
  /** Closes it: the session was deleted here, or has expired, or the process ends. Its errors go to `onError`. */
  readonly close: (resource: Resource) => Awaitable<void>
  /** The number of open resources at a time; 1000 when absent. One more throws a `SessionUsageError`. */
  readonly maxOpen?: number | undefined
  readonly onError?: ErrorListener<[error: unknown]>
  /** Time; the platform's when absent. */
  readonly runtime?: Partial<Runtime> | undefined
}

/**
 * The resources that sessions hold open in one process, such as editors or connections. Any instance may serve a session, and each opens its own: a
 * resource speeds calls up, and must not be the only place where something is.
 */
export interface SessionResources<Resource> extends AsyncResource {
  /** Resolves with the resource of a session, which is opened once for all calls that ask at the same time. */
  of(session: { readonly id: string; readonly expiresAt: number }): Promise<Resource>
  /** Closes the resource of a session at this instance, for `onDelete`. */
  end(id: string): Promise<void>
  /** The number of open resources. */
  readonly size: number
  /** Closes them all. */
  close(): Promise<void>
}

interface HeldResource<Resource> {
  readonly resource: Promise<Resource>
  timer: unknown
}

// The platforms' timers hold 31 bits.
const maxTimer = 2_147_483_647

/** Makes resources that are opened once for each session at this instance, and closed when the session ends. */
export function sessionResources<Resource>(options: SessionResourcesOptions<Resource>): SessionResources<Resource> {
  const { maxOpen = 1000 } = options
  const onError = errorListener(options.onError, '@x/sessions')
  const runtime = runtimeOf(options.runtime)
  const resources = new Map<string, HeldResource<Resource>>()

  async function end(id: string): Promise<void> {
    const one = resources.get(id)
    if (one === undefined) return
    resources.delete(id)
    runtime.clearTimeout(one.timer)
    try {
      await options.close(await one.resource)
    } catch (error) {
      onError(error)
    }
  }

  function closeOnExpiry(one: HeldResource<Resource>, id: string, expiresAt: number): void {
    const left = expiresAt - runtime.now()
    const checkExpiry = (): void => (expiresAt > runtime.now() ? closeOnExpiry(one, id, expiresAt) : void end(id))
    one.timer = runtime.setTimeout(checkExpiry, Math.min(Math.max(left, 0), maxTimer))
    // A session that lives on must not keep a process alive.
    unref(one.timer)
  }

  function open(session: { readonly id: string; readonly expiresAt: number }): Promise<Resource> {
    const { id, expiresAt } = session
    if (resources.size >= maxOpen) {
      throw new SessionUsageError(`${maxOpen} sessions have a resource open here: allow more with maxOpen`)
    }
    const one: HeldResource<Resource> = { resource: (async () => options.open(session))(), timer: undefined }
    resources.set(id, one)
    closeOnExpiry(one, id, expiresAt)
    one.resource.catch(() => {
      // The next call tries again.
      if (resources.get(id) === one) resources.delete(id)
      runtime.clearTimeout(one.timer)
    })
    return one.resource
  }

  const close = async (): Promise<void> => void (await Promise.all([...resources.keys()].map(end)))
  return {
    of: async (session) => resources.get(session.id)?.resource ?? open(session),
    end,
    get size() {
      return resources.size
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}
