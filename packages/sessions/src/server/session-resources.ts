import {
  createLedger,
  createLog,
  errorRecord,
  isLimitError,
  type Log,
  type Ledger,
  ledgerBounds,
  maxTimerMs,
  type Runtime,
  runtimeOf,
  unref,
} from '@x/core'
import { type AsyncResource, limitErrorToMcp } from '@x/schema'
import type { Awaitable } from './session-options.ts'

/** The session of a resource: a `Session` of a handler is one. */
export interface ResourceSession {
  readonly id: string
  /** The end of the session, in milliseconds since 1970. */
  readonly expiresAt: number
  /** The key by which the caller is counted. Sessions without one share it. */
  readonly callerKey?: string | undefined
}

/** The share of the open resources that one caller may have. */
const callerShare = 1 / 10

/** The options of {@link sessionResources}. */
export interface SessionResourcesOptions<Resource> {
  /** Opens the resource, when a handler first asks for it at this instance. */
  readonly open: (session: { readonly id: string; readonly expiresAt: number }) => Awaitable<Resource>
  /**
   * Closes a resource when its session was deleted here or has expired, or when the process ends. An error of this
   * function goes to `log`.
   */
  readonly close: (resource: Resource) => Awaitable<void>
  /**
   * The number of open resources at a time, 1000 when absent. One caller may have a tenth of them. One more rejects
   * with an `McpError`, which over HTTP is 429, or 503 where the resources of all callers are as many.
   */
  readonly maxOpenResources?: number | undefined
  /** Receives the errors of `close`. Default: lines of the standard error. */
  readonly log?: Log | undefined
  /** The clock. Default: that of the platform. */
  readonly runtime?: Partial<Runtime> | undefined
}

/**
 * The resources that sessions hold open in one process, such as editors or connections. Any instance may serve a
 * session, and each opens a resource of its own. A resource makes calls faster, and must not hold the only copy of
 * anything.
 */
export interface SessionResources<Resource> extends AsyncResource {
  /** Resolves with the resource of a session, which is opened once for all calls that ask at the same time. */
  of(session: ResourceSession): Promise<Resource>
  /** Closes the resource of a session at this instance, for `onDelete`. */
  end(id: string): Promise<void>
  /** The number of open resources. */
  readonly size: number
  /** Closes all resources. */
  close(): Promise<void>
}

interface ResourceEntry<Resource> {
  readonly resource: Promise<Resource>
  timer: unknown
  /** Gives the resource back to the ledger. */
  readonly release: () => void
}

/** Makes resources that are opened once for each session at this instance, and closed when the session ends. */
export function sessionResources<Resource>(options: SessionResourcesOptions<Resource>): SessionResources<Resource> {
  const { maxOpenResources = 1000 } = options
  const ledger = createResourceLedger(maxOpenResources)
  const log = createLog(options.log, '@x/sessions')
  const runtime = runtimeOf(options.runtime)
  const resources = new Map<string, ResourceEntry<Resource>>()

  async function closeResource(id: string): Promise<void> {
    const entry = resources.get(id)
    if (entry === undefined) return
    resources.delete(id)
    entry.release()
    runtime.clearTimeout(entry.timer)
    try {
      await options.close(await entry.resource)
    } catch (error) {
      log(errorRecord(error, { method: 'sessionResources' }))
    }
  }

  function closeOnExpiry(entry: ResourceEntry<Resource>, id: string, expiresAt: number): void {
    const remainingMs = expiresAt - runtime.now()
    const closeOrReschedule = (): void =>
      expiresAt > runtime.now() ? closeOnExpiry(entry, id, expiresAt) : void closeResource(id)
    entry.timer = runtime.setTimeout(closeOrReschedule, Math.min(Math.max(remainingMs, 0), maxTimerMs))
    // The timer of a session must not keep the process alive.
    unref(entry.timer)
  }

  function openResource(session: ResourceSession): Promise<Resource> {
    const { id, expiresAt } = session
    const release = takeResource(ledger, session)
    const entry: ResourceEntry<Resource> = {
      resource: (async () => options.open(session))(),
      timer: undefined,
      release,
    }
    resources.set(id, entry)
    closeOnExpiry(entry, id, expiresAt)
    entry.resource.catch(() => {
      // The next call tries again.
      if (resources.get(id) === entry) resources.delete(id)
      release()
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

/** Counts one more resource of the caller of a session. Throws an `McpError` for a caller that has its share. */
function takeResource(ledger: Ledger, { callerKey = '' }: ResourceSession): () => void {
  try {
    return ledger.take('session_resources', callerKey)
  } catch (error) {
    throw isLimitError(error) ? limitErrorToMcp(error) : error
  }
}

/** Creates the ledger of resources. One caller may have a share of them. */
function createResourceLedger(maxOpenResources: number): Ledger {
  const { advice } = ledgerBounds.session_resources
  const perCaller = Math.max(1, Math.ceil(maxOpenResources * callerShare))
  return createLedger(undefined, { session_resources: { perCaller, total: maxOpenResources, advice } })
}
