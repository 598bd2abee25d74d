import {
  createLedger,
  createLog,
  errorRecord,
  isLimitError,
  type Log,
  type Ledger,
  ledgerBounds,
  maxTimerMs,
  type OptionTable,
  resolveOptions,
  type Runtime,
  runtimeOf,
  unref,
} from '@x/core'
import { type AsyncResource, limitErrorToMcp } from '@x/exchange'
import type { Awaitable } from './session-options.ts'

/** Session that a resource belongs to. A `Session` of a handler has this type. */
export interface ResourceSession {
  readonly id: string
  /** When the session ends, in milliseconds since 1970. */
  readonly expiresAt: number
  /** Counts the resources of one caller. All sessions without a key are counted together. */
  readonly callerKey?: string | undefined
}

/** What one caller may have of `maxOpenResources`. */
const callerShare = 1 / 10

/** The options of {@link sessionResources}. */
export interface SessionResourcesOptions<Resource> {
  /** Opens the resource of a session, when a handler first needs it at this instance. */
  readonly open: (session: { readonly id: string; readonly expiresAt: number }) => Awaitable<Resource>
  /**
   * Closes a resource. Called by `end` and `close` of {@link SessionResources}, and when the session expires. What it
   * throws goes to `log`.
   */
  readonly close: (resource: Resource) => Awaitable<void>
  /**
   * How many resources may be open at a time. Default: 1000. One caller may have a tenth of them. Beyond these limits
   * `of` rejects with an `McpError`. Over HTTP it is 429 for the limit of the caller, and 503 for the limit of all
   * callers.
   */
  readonly maxOpenResources?: number | undefined
  /** Gets the errors of `close`. Default: writes lines to the standard error. */
  readonly log?: Log | undefined
  /** Default: the platform's clock. */
  readonly runtime?: Partial<Runtime> | undefined
}

const resourcesOptionTable = {
  open: undefined,
  close: undefined,
  // limit: count | sessions with an open resource at one instance | 503. One caller may use a tenth
  maxOpenResources: 1000,
  log: undefined,
  runtime: undefined,
} satisfies OptionTable<SessionResourcesOptions<never>>

/**
 * Open resources of sessions in one process, such as editors or connections. Several instances may serve one session,
 * and each opens its own. A resource must not have the only copy of any data, because it only makes calls faster.
 */
export interface SessionResources<Resource> extends AsyncResource {
  /** Resolves with the resource of a session. Calls at the same time share one opening. */
  of(session: ResourceSession): Promise<Resource>
  /** Closes the resource of a session at this instance. Call it in `onDelete`. */
  end(id: string): Promise<void>
  /** How many resources are open. */
  readonly size: number
  /** Closes all resources. */
  close(): Promise<void>
}

interface ResourceEntry<Resource> {
  readonly resource: Promise<Resource>
  timer: unknown
  readonly release: () => void
}

/**
 * Each session has one resource at this instance, which is closed when the session expires. Call `end(id)` in
 * `onDelete` for a deletion, and yourself after `revoke`.
 */
export function sessionResources<Resource>(options: SessionResourcesOptions<Resource>): SessionResources<Resource> {
  const { maxOpenResources, ...given } = resolveOptions(options, resourcesOptionTable, 'sessionResources')
  const ledger = createResourceLedger(maxOpenResources)
  const log = createLog(given.log, '@x/sessions')
  const runtime = runtimeOf(given.runtime)
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
    // A session's timer must not keep the process alive.
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
      // Removed, so that the next call tries again.
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

function takeResource(ledger: Ledger, { callerKey = '' }: ResourceSession): () => void {
  try {
    return ledger.take('session_resources', callerKey)
  } catch (error) {
    throw isLimitError(error) ? limitErrorToMcp(error) : error
  }
}

function createResourceLedger(maxOpenResources: number): Ledger {
  const { advice } = ledgerBounds.session_resources
  const perCaller = Math.max(1, Math.ceil(maxOpenResources * callerShare))
  return createLedger(undefined, { session_resources: { perCaller, total: maxOpenResources, advice } })
}
