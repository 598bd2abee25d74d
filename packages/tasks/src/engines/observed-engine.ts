import type { TaskEngine } from './engine.ts'

/** What an engine's calls say about its store. */
export interface EngineObserver {
  onAnswer(): void
  onFailure(error: unknown): void
}

/** Reports how each call of an engine ends. */
export function observeEngine(engine: TaskEngine, { onAnswer, onFailure }: EngineObserver): TaskEngine {
  const observe = async <T>(call: () => Promise<T>): Promise<T> => {
    try {
      const value = await call()
      onAnswer()
      return value
    } catch (error) {
      onFailure(error)
      throw error
    }
  }
  return {
    leaseMs: engine.leaseMs,
    notifications: engine.notifications,
    create: (task) => observe(() => engine.create(task)),
    get: (id, owner) => observe(() => engine.get(id, owner)),
    answer: (answers) => observe(() => engine.answer(answers)),
    cancel: (id, owner) => observe(() => engine.cancel(id, owner)),
    claim: (request) => observe(() => engine.claim(request)),
    heartbeat: (leases) => observe(() => engine.heartbeat(leases)),
    record: (lease, progress) => observe(() => engine.record(lease, progress)),
    suspend: (lease, suspension) => observe(() => engine.suspend(lease, suspension)),
    release: (lease, taskRelease) => observe(() => engine.release(lease, taskRelease)),
    finish: (lease, taskEnd) => observe(() => engine.finish(lease, taskEnd)),
    deleteExpiredTasks: () => observe(() => engine.deleteExpiredTasks()),
    listen: (listener) => observe(() => engine.listen(listener)),
    listDue: (limit) => observe(() => engine.listDue(limit)),
    inspect: (id) => observe(() => engine.inspect(id)),
    revoke: (id) => observe(() => engine.revoke(id)),
    list: (filter) => observe(() => engine.list(filter)),
    count: () => observe(() => engine.count()),
    ping: () => observe(() => engine.ping()),
    close: () => engine.close(),
  }
}
