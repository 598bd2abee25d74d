import { type ChangeBus, isMissingModuleError, memoryBus } from '@x/core'
import type { TaskEngine } from './engine.ts'

/** Milliseconds for which a claim is valid. */
export const defaultLeaseMs = 10_000

/**
 * Opens an engine with its first call. If that fails, the next call tries again, except if a package is missing. After
 * `close` every call rejects.
 */
export function createLazyEngine(leaseMs: number, openEngine: () => Promise<TaskEngine>): TaskEngine {
  let enginePromise: Promise<TaskEngine> | undefined
  let closePromise: Promise<void> | undefined
  const getEngine = (): Promise<TaskEngine> => {
    if (closePromise !== undefined) return Promise.reject(new Error('The engine is closed and accepts no more calls'))
    enginePromise ??= openEngine().catch((error: unknown) => {
      if (!isMissingModuleError(error)) enginePromise = undefined
      throw error
    })
    return enginePromise
  }
  // Every engine that is opened here has `notifications`.
  const getNotifications = async (): Promise<ChangeBus> => (await getEngine()).notifications ?? memoryBus()
  const closeEngine = async (): Promise<void> => (await enginePromise?.catch(() => undefined))?.close()
  return {
    leaseMs,
    notifications: {
      publish: async (change) => (await getNotifications()).publish(change),
      listen: async (listener) => (await getNotifications()).listen(listener),
    },
    create: async (task) => (await getEngine()).create(task),
    get: async (id, owner) => (await getEngine()).get(id, owner),
    answer: async (answers) => (await getEngine()).answer(answers),
    cancel: async (id, owner) => (await getEngine()).cancel(id, owner),
    claim: async (request) => (await getEngine()).claim(request),
    heartbeat: async (leases) => (await getEngine()).heartbeat(leases),
    record: async (lease, progress) => (await getEngine()).record(lease, progress),
    suspend: async (lease, suspension) => (await getEngine()).suspend(lease, suspension),
    release: async (lease, taskRelease) => (await getEngine()).release(lease, taskRelease),
    finish: async (lease, taskEnd) => (await getEngine()).finish(lease, taskEnd),
    deleteExpiredTasks: async () => (await getEngine()).deleteExpiredTasks(),
    listen: async (listener) => (await getEngine()).listen(listener),
    listDue: async (limit) => (await getEngine()).listDue(limit),
    inspect: async (id) => (await getEngine()).inspect(id),
    revoke: async (id) => (await getEngine()).revoke(id),
    list: async (filter) => (await getEngine()).list(filter),
    count: async () => (await getEngine()).count(),
    ping: async () => (await getEngine()).ping(),
    close: () => {
      closePromise ??= closeEngine()
      return closePromise
    },
  }
}
