import { type Clock, settlesWithin } from '@x/core'
import type { TaskEngine } from '../../engines/engine.ts'

/** Least time limit of a call, in milliseconds. A slow network should not make a call fail, even with a short lease. */
const minCallMs = 5000

/**
 * Time limit of a call until the engine has answered once, in milliseconds. The first call opens the store, for which
 * PGlite needs seconds.
 */
const openingMs = 60_000

/** The engine cannot be reached, or hangs. */
class EngineError extends Error {
  override readonly name = 'EngineError'
  readonly code = 'unavailable'
}

/** What a worker calls of an engine. */
export type WorkerEngine = Omit<
  TaskEngine,
  'create' | 'get' | 'answer' | 'cancel' | 'revoke' | 'list' | 'count' | 'notifications' | 'ping' | 'close'
>

/**
 * Limits each call to the lease, but at least 5 seconds, and at least a minute until the engine has answered once; a
 * worker must not wait for ever with a claimed task. A call beyond the limit rejects, yet may still have its effect,
 * which is harmless because of the tokens of claims. If a claim succeeds too late it is released, and a listener that
 * is added too late is removed.
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
    throw new EngineError(`The engine did not answer to ${name} within ${limitMs} ms`)
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
