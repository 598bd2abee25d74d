import { type ChangeBus, memoryBus } from '@x/server'
import type { EngineListener, TaskEngine } from './engine.ts'
import { memoryEngine } from './memory-engine.ts'

/** Where tasks are kept: within this process, in a folder of PGlite, or in a PostgreSQL. */
export type TaskStore = 'memory:' | `pglite:${string}` | `postgres://${string}` | `postgresql://${string}`

/**
 * The engine of a store, with its options as they are when absent. The code of an engine is loaded when it is first used. Throws
 * `RangeError` for a store that there is no engine of; it shows nothing of the text but its scheme, because URLs have passwords.
 */
export function storeEngine(store: TaskStore, onError: (error: unknown) => void): TaskEngine {
  if (store === 'memory:') return memoryEngine()
  if (/^postgres(?:ql)?:\/\//.test(store)) {
    return loadedLater(async () => (await import('./postgres/postgres-engine.ts')).postgresEngine(store, { onError }))
  }
  const folder = /^pglite:(.+)$/.exec(store)?.[1]
  if (folder !== undefined) {
    return loadedLater(async () => (await import('./pglite/pglite-engine.ts')).pgliteEngine(folder, { onError }))
  }
  const scheme = /^[a-z]{1,20}:/i.exec(store)?.[0] ?? 'none'
  throw new RangeError(
    `store has the scheme ${scheme}; write "memory:", "pglite:" and a folder, or a URL that begins with "postgres://"`,
  )
}

/** What the engines take a lease to be when nothing else is said. */
const usualLeaseMs = 10_000

/** An engine that is loaded with the first use of it. */
function loadedLater(load: () => Promise<TaskEngine>): TaskEngine {
  let loading: Promise<TaskEngine> | undefined
  const engine = (): Promise<TaskEngine> => (loading ??= load())
  // The engines that are loaded here have one.
  const news = async (): Promise<ChangeBus> => (await engine()).news ?? memoryBus()
  return {
    leaseMs: usualLeaseMs,
    news: {
      publish: async (change) => (await news()).publish(change),
      listen: async (listener) => (await news()).listen(listener),
    },
    create: async (task) => (await engine()).create(task),
    get: async (id, owner) => (await engine()).get(id, owner),
    answer: async (answers) => (await engine()).answer(answers),
    cancel: async (id, owner) => (await engine()).cancel(id, owner),
    claim: async (most) => (await engine()).claim(most),
    heartbeat: async (leases) => (await engine()).heartbeat(leases),
    record: async (lease, progress) => (await engine()).record(lease, progress),
    suspend: async (lease, suspension) => (await engine()).suspend(lease, suspension),
    release: async (lease, given) => (await engine()).release(lease, given),
    finish: async (lease, end) => (await engine()).finish(lease, end),
    sweep: async () => (await engine()).sweep(),
    listen: async (listener: EngineListener) => (await engine()).listen(listener),
    close: async () => (await loading)?.close(),
  }
}
