import { type Clock, settlesWithin } from '@x/core'
import type { TaskEngine } from '../../engines/engine.ts'

/**
 * The smallest time limit of a call, in milliseconds. A slow network should not make a call fail, even with a short
 * lease.
 */
const minCallMs = 5000

/**
 * The time limit of a call until the engine has answered once, in milliseconds. The first call opens the store, for
 * which PGlite needs seconds.
 */
const openingMs = 60_000

/** The functions of an engine that a worker calls. */
export type WorkerEngine = Omit<
  TaskEngine,
  'create' | 'get' | 'answer' | 'cancel' | 'revoke' | 'list' | 'count' | 'notifications' | 'ping' | 'close'
>

/**
 * Wraps an engine for its worker, so that each call has a time limit: the lease, but at least 5 seconds. Until the
 * engine has answered once, the limit is at least a minute. A call that exceeds the limit rejects, so that the worker
 * does not wait for it with a claimed task. A rejected call may still have its effect, which is harmless because of the
 * tokens of claims. A claim that succeeds too late is released. A listener that is added too late is removed.
 */
export function boundEngineCalls(engine: TaskEngine, clock: Clock, onError: (error: unknown) => void): WorkerEngine {
  const usualMs = Math.max(engine.leaseMs, minCallMs)
  let hasAnswered = false
  const bound = async <T>(name: string, call: Promise<T>, undo: (value: T) => unknown = () => {}): Promise<T> => {
    const limitMs = hasAnswered ? usualMs : Math.max(usualMs, openingMs)
    if (await settlesWithin(call, limitMs, clock)) {
      const value = await call
      hasAnswered = true
      return value
    }
    call.then(undo, () => {})
    throw new Error(`The engine did not answer to ${name} within ${limitMs} ms`)
  }
  const noProgress = { entries: [], hasProgressed: false }
  return {
    leaseMs: engine.leaseMs,
    claim: (request) =>
      bound('claim', engine.claim(request), ({ tasks }) => {
        for (const task of tasks) engine.release(task, noProgress).catch(onError)
      }),
    heartbeat: (leases) => bound('heartbeat', engine.heartbeat(leases)),
    record: (lease, progress) => bound('record', engine.record(lease, progress)),
    suspend: (lease, suspension) => bound('suspend', engine.suspend(lease, suspension)),
    release: (lease, taskRelease) => bound('release', engine.release(lease, taskRelease)),
    finish: (lease, taskEnd) => bound('finish', engine.finish(lease, taskEnd)),
    deleteExpiredTasks: () => bound('deleteExpiredTasks', engine.deleteExpiredTasks()),
    listDue: (limit) => bound('listDue', engine.listDue(limit)),
    inspect: (id) => bound('inspect', engine.inspect(id)),
    listen: (listener) => bound('listen', engine.listen(listener), (stop) => stop()),
  }
}
