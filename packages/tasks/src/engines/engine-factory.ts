import { type ChangeBus, type Log, memoryBus } from '@x/core'
import type { EngineListener, TaskEngine } from './engine.ts'
import { memoryEngine } from './memory-engine.ts'

/**
 * Returns a function that creates the engine for a store address, with default options. The code of the engine is
 * loaded when it is first used. Throws `RangeError` for an unknown scheme. The error message contains only the scheme,
 * because URLs contain passwords.
 */
export function engineFactoryFor(store: string): (log: Log) => TaskEngine {
  if (store === 'memory:') return () => memoryEngine()
  if (/^postgres(?:ql)?:\/\//.test(store)) {
    return (log) =>
      createLazyEngine(async () => (await import('./postgres/postgres-engine.ts')).postgresEngine(store, { log }))
  }
  const folder = /^pglite:(.+)$/.exec(store)?.[1]
  if (folder !== undefined) {
    return (log) =>
      createLazyEngine(async () => (await import('./pglite/pglite-engine.ts')).pgliteEngine(folder, { log }))
  }
  const scheme = /^[a-z]{1,20}:/i.exec(store)?.[0] ?? 'none'
  throw new RangeError(
    `store has the scheme ${scheme}; write "memory:", "pglite:" and a folder, or a URL that begins with "postgres://"`,
  )
}

/** The lease of engines that are created here, in milliseconds. */
const defaultLeaseMs = 10_000

/** Creates an engine whose code is loaded when it is first used. */
function createLazyEngine(loadEngine: () => Promise<TaskEngine>): TaskEngine {
  let enginePromise: Promise<TaskEngine> | undefined
  let isClosed = false
  const getEngine = (): Promise<TaskEngine> => {
    if (isClosed && enginePromise === undefined)
      return Promise.reject(new Error('The engine was closed before its first use'))
    enginePromise ??= loadEngine()
    return enginePromise
  }
  // Every engine that is loaded here has `notifications`.
  const getNotifications = async (): Promise<ChangeBus> => (await getEngine()).notifications ?? memoryBus()
  return {
    leaseMs: defaultLeaseMs,
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
    listen: async (listener: EngineListener) => (await getEngine()).listen(listener),
    inspect: async (id) => (await getEngine()).inspect(id),
    revoke: async (id) => (await getEngine()).revoke(id),
    list: async (filter) => (await getEngine()).list(filter),
    count: async () => (await getEngine()).count(),
    ping: async () => (await getEngine()).ping(),
    close: async () => {
      isClosed = true
      await (await enginePromise)?.close()
    },
  }
}
