import {
  type ChangeBus,
  createFailureReporter,
  createLog,
  isMissingModuleError,
  type Log,
  memoryBus,
  PartLog,
  platformRuntime,
} from '@x/core'
import type { TaskEngine } from './engine.ts'

/** Milliseconds for which a claim is valid. */
export const defaultLeaseMs = 10_000

/** Makes an engine that logs to the server that gets it, unless the options have a log. */
export function createLoggedEngine<Options extends { readonly log?: Log | undefined }>(
  options: Options,
  create: (options: Options) => TaskEngine,
): TaskEngine {
  const log = new PartLog(options.log, '@x/tasks')
  return { ...create({ ...options, log: log.write }), useLog: log.use }
}

/** Logs failures of background work, for which no call rejects. */
export function errorReporterOf(
  { log }: { readonly log?: Log | undefined },
  service: string,
): (error: unknown) => void {
  return createFailureReporter(createLog(log, '@x/tasks'), service, { name: 'tasks', clock: platformRuntime }).report
}

/**
 * Opens an engine with its first call. If that fails, the next call tries again, except if a package is missing. After
 * `close` every call rejects, and the signal aborts, which ends an opening.
 */
export function createLazyEngine(
  leaseMs: number,
  openEngine: (signal: AbortSignal) => Promise<TaskEngine>,
): TaskEngine {
  const closing = new AbortController()
  let enginePromise: Promise<TaskEngine> | undefined
  let closePromise: Promise<void> | undefined
  const getEngine = (): Promise<TaskEngine> => {
    if (closePromise !== undefined) return Promise.reject(new Error('The engine is closed and accepts no more calls'))
    enginePromise ??= openEngine(closing.signal).catch((error: unknown) => {
      if (!isMissingModuleError(error)) enginePromise = undefined
      throw error
    })
    return enginePromise
  }
  // Every engine that is opened here has `notifications`.
  const getNotifications = async (): Promise<ChangeBus> => (await getEngine()).notifications ?? memoryBus()
  const closeEngine = async (): Promise<void> => {
    closing.abort()
    await (await enginePromise?.catch(() => undefined))?.close()
  }
  return {
    leaseMs,
    notifications: {
      publish: async (change) => (await getNotifications()).publish(change),
      listen: async (listener) => (await getNotifications()).listen(listener),
    },
    ...forwardCalls(async (call) => call(await getEngine())),
    close: () => {
      closePromise ??= closeEngine()
      return closePromise
    },
  }
}

/** The calls of an engine, each through `forward`, which chooses the engine and sees the outcome. */
export function forwardCalls(
  forward: <T>(call: (engine: TaskEngine) => Promise<T>) => Promise<T>,
): Omit<TaskEngine, 'leaseMs' | 'notifications' | 'useLog' | 'close'> {
  return {
    create: (task) => forward((engine) => engine.create(task)),
    get: (id, owner) => forward((engine) => engine.get(id, owner)),
    answer: (answers) => forward((engine) => engine.answer(answers)),
    cancel: (id, owner) => forward((engine) => engine.cancel(id, owner)),
    claim: (request) => forward((engine) => engine.claim(request)),
    heartbeat: (leases) => forward((engine) => engine.heartbeat(leases)),
    record: (lease, progress) => forward((engine) => engine.record(lease, progress)),
    suspend: (lease, suspension) => forward((engine) => engine.suspend(lease, suspension)),
    release: (lease, taskRelease) => forward((engine) => engine.release(lease, taskRelease)),
    finish: (lease, taskEnd) => forward((engine) => engine.finish(lease, taskEnd)),
    deleteExpiredTasks: () => forward((engine) => engine.deleteExpiredTasks()),
    listen: (listener) => forward((engine) => engine.listen(listener)),
    listDue: (limit) => forward((engine) => engine.listDue(limit)),
    inspect: (id) => forward((engine) => engine.inspect(id)),
    revoke: (id) => forward((engine) => engine.revoke(id)),
    list: (filter) => forward((engine) => engine.list(filter)),
    count: () => forward((engine) => engine.count()),
    ping: () => forward((engine) => engine.ping()),
  }
}
