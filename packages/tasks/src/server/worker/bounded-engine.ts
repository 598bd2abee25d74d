import { type Clock, settlesWithin } from '@x/core'
import type { TaskEngine } from '../../engines/engine.ts'

/** The shortest limit of a call, in milliseconds: a slow network is no reason to call again. */
const minCallMs = 5000

/** The limit until an engine has answered, in milliseconds: the first call opens the store, and PGlite needs seconds. */
const openingMs = 60_000

/** The functions of an engine that a worker calls. */
export type WorkerEngine = Pick<
  TaskEngine,
  'leaseMs' | 'claim' | 'heartbeat' | 'record' | 'suspend' | 'release' | 'finish' | 'deleteExpiredTasks' | 'listen'
>

/**
 * Wraps an engine for its worker: a call that has not settled within the lease, and at least 5 seconds, rejects, so that
 * it holds no task. Before the engine's first answer a call has a minute. The effect of a rejected call may still come,
 * which the tokens of claims make harmless. A claim that comes too late is released, and a late listener is stopped.
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
    listen: (listener) => bound('listen', engine.listen(listener), (stop) => stop()),
  }
}
