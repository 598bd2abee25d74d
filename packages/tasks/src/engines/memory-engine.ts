import { memoryBus, type OptionTable, resolveOptions } from '@x/core'
import type { TaskEngine } from './engine.ts'
import { MemoryStore } from './memory-store.ts'

/** Options of {@link memoryEngine}. */
export interface MemoryEngineOptions {
  /** Milliseconds for which a claim is valid. Default: 10,000. */
  readonly leaseMs?: number | undefined
  /**
   * Maximum number of stored tasks, ended ones included. Above it expired tasks are deleted, or else the oldest ended
   * task of the caller that has the most tasks. If none has ended, `create` rejects with `LimitError`. Default: 10,000.
   */
  readonly maxTasks?: number | undefined
  /** Gives the time in milliseconds since 1970. Default: `Date.now`. */
  readonly wallClock?: (() => number) | undefined
}

const engineOptionTable = {
  leaseMs: 10_000,
  // limit: `maxTasks` of `memoryEngine` | count | tasks of all callers, ended ones included | the caller with the most
  //   tasks loses the oldest one that has ended. If none has ended: 503
  maxTasks: 10_000,
  wallClock: { default: () => Date.now() },
} satisfies OptionTable<MemoryEngineOptions>

/**
 * Keeps tasks in the memory of this process, and loses them with it: for tests, and for servers whose tasks need not
 * survive. Several servers of one process may share it.
 */
export function memoryEngine(options: MemoryEngineOptions = {}): TaskEngine {
  const { leaseMs, maxTasks, wallClock } = resolveOptions(options, engineOptionTable, 'memoryEngine')
  const store = new MemoryStore(leaseMs, maxTasks, () => wallClock())
  // Each function is a transaction, simply because none awaits anything between its reads and writes.
  return {
    leaseMs,
    notifications: memoryBus(),
    create: async (task) => store.create(task),
    get: async (id, owner) => store.find(id, owner)?.toRow(store.now()),
    answer: async (answers) => store.answer(answers),
    cancel: async (id, owner) => store.cancel(id, owner),
    claim: async (request) => store.claim(request),
    heartbeat: async (leases) => leases.map((lease) => store.renewLease(lease)),
    record: async (lease, progress) => store.write(lease, (task, nowMs) => task.storeProgress(progress, nowMs)),
    suspend: async (lease, suspension) => store.write(lease, (task, nowMs) => task.suspend(suspension, nowMs)),
    release: async (lease, taskRelease) => store.release(lease, taskRelease),
    finish: async (lease, taskEnd) => store.write(lease, (task, nowMs) => task.finish(taskEnd, nowMs)) !== 'lost',
    deleteExpiredTasks: async () => store.deleteExpired(),
    listen: async (listener) => store.listen(listener),
    listDue: async (limit) =>
      store
        .listReady()
        .slice(0, limit)
        .map(({ id }) => id),
    inspect: async (id) => store.find(id)?.toInspected(store.now()),
    revoke: async (id) => store.revoke(id),
    list: async (filter) => store.list(filter),
    count: async () => store.count(),
    ping: async () => {},
    close: async () => {},
  }
}
