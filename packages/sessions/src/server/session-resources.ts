import { type ErrorListener, errorListener, unref, type Runtime, runtimeOf, maxTimerMs } from '@x/core'
import type { AsyncResource } from '@x/schema'
import { SessionUsageError } from './session-errors.ts'
import type { Awaitable } from './session-options.ts'

/** The options of {@link sessionResources}. */
export interface SessionResourcesOptions<Resource> {
  /** Opens the resource, when a handler first asks for it at this instance. */
  readonly open: (session: { readonly id: string; readonly expiresAt: number }) => Awaitable<Resource>
  /** Closes it: the session was deleted here, or has expired, or the process ends. Its errors go to `onError`. */
  readonly close: (resource: Resource) => Awaitable<void>
  /** The number of open resources at a time; 1000 when absent. One more throws a `SessionUsageError`. */
  readonly maxOpenResources?: number | undefined
  readonly onError?: ErrorListener<[error: unknown]>
  /** Time; the platform's when absent. */
  readonly runtime?: Partial<Runtime> | undefined
}

/**
 * The resources that sessions hold open in one process, such as editors or connections. Any instance may serve a
 * session, and each opens its own: a resource speeds calls up, and must not be the only place where something is.
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

interface ResourceEntry<Resource> {
  readonly resource: Promise<Resource>
  timer: unknown
}

/** Makes resources that are opened once for each session at this instance, and closed when the session ends. */
export function sessionResources<Resource>(options: SessionResourcesOptions<Resource>): SessionResources<Resource> {
  const { maxOpenResources = 1000 } = options
  const onError = errorListener(options.onError, '@x/sessions')
  const runtime = runtimeOf(options.runtime)
  const resources = new Map<string, ResourceEntry<Resource>>()

  async function closeResource(id: string): Promise<void> {
    const entry = resources.get(id)
    if (entry === undefined) return
    resources.delete(id)
    runtime.clearTimeout(entry.timer)
    try {
      await options.close(await entry.resource)
    } catch (error) {
      onError(error)
    }
  }

  function closeOnExpiry(entry: ResourceEntry<Resource>, id: string, expiresAt: number): void {
    const remainingMs = expiresAt - runtime.now()
    const closeOrReschedule = (): void =>
      expiresAt > runtime.now() ? closeOnExpiry(entry, id, expiresAt) : void closeResource(id)
    entry.timer = runtime.setTimeout(closeOrReschedule, Math.min(Math.max(remainingMs, 0), maxTimerMs))
    // A session that lives on must not keep a process alive.
    unref(entry.timer)
  }

  function openResource(session: { readonly id: string; readonly expiresAt: number }): Promise<Resource> {
    const { id, expiresAt } = session
    if (resources.size >= maxOpenResources) {
      throw new SessionUsageError(
        `${maxOpenResources} sessions have a resource open here: allow more with maxOpenResources`,
      )
    }
    const entry: ResourceEntry<Resource> = { resource: (async () => options.open(session))(), timer: undefined }
    resources.set(id, entry)
    closeOnExpiry(entry, id, expiresAt)
    entry.resource.catch(() => {
      // The next call tries again.
      if (resources.get(id) === entry) resources.delete(id)
      runtime.clearTimeout(entry.timer)
    })
    return entry.resource
  }

  const close = async (): Promise<void> => void (await Promise.all([...resources.keys()].map(closeResource)))
  return {
    of: async (session) => resources.get(session.id)?.resource ?? openResource(session),
    end: closeResource,
    get size() {
      return resources.size
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}
