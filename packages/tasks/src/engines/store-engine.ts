import { type ChangeBus, memoryBus } from '@x/server'
import type { EngineListener, TaskEngine } from './engine.ts'
import { memoryEngine } from './memory-engine.ts'

/**
 * Returns a function that makes an engine of a store, with the defaults of its options. The code of an engine is loaded with its first
 * use. Throws `RangeError` for a store without an engine; it shows nothing of the text but its scheme, because URLs have passwords.
 */
export function storeEngine(store: string): (onError: (error: unknown) => void) => TaskEngine {
  if (store === 'memory:') return () => memoryEngine()
  if (/^postgres(?:ql)?:\/\//.test(store)) {
    return (onError) =>
      loadedLater(async () => (await import('./postgres/postgres-engine.ts')).postgresEngine(store, { onError }))
  }
  const folder = /^pglite:(.+)$/.exec(store)?.[1]
  if (folder !== undefined) {
    return (onError) =>
      loadedLater(async () => (await import('./pglite/pglite-engine.ts')).pgliteEngine(folder, { onError }))
  }
  const scheme = /^[a-z]{1,20}:/i.exec(store)?.[0] ?? 'none'
  throw new RangeError(
    `store has the scheme ${scheme}; write "memory:", "pglite:" and a folder, or a URL that begins with "postgres://"`,
  )
}

/** The lease of the engines that are loaded here. */
const defaultLeaseMs = 10_000

/** Makes an engine that is loaded with its first use. */
function loadedLater(load: () => Promise<TaskEngine>): TaskEngine {
  let loading: Promise<TaskEngine> | undefined
  let isClosed = false
  const engine = (): Promise<TaskEngine> => {
    if (isClosed && loading === undefined)
      return Promise.reject(new Error('The engine was closed before its first use'))
    loading ??= load()
    return loading
  }
  // The engines that are loaded here have one.
  const notifications = async (): Promise<ChangeBus> => (await engine()).notifications ?? memoryBus()
  return {
    leaseMs: defaultLeaseMs,
    notifications: {
      publish: async (change) => (await notifications()).publish(change),
      listen: async (listener) => (await notifications()).listen(listener),
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
    inspect: async (id) => (await engine()).inspect(id),
    ping: async () => (await engine()).ping(),
    close: async () => {
      isClosed = true
      await (await loading)?.close()
    },
  }
}
