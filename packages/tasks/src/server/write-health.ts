import type { Clock } from '@x/core'
import type { LeaseState } from '../engines/engine.ts'
import type { WorkerEngine } from './worker/bounded-engine.ts'

/** Whether the last write to an engine succeeded. */
export interface WriteHealth {
  /** Notes the outcome of a write, and returns the write. `hasWritten` returns false for results that wrote nothing. */
  watch<T>(write: Promise<T>, hasWritten?: (result: T) => boolean): Promise<T>
  /**
   * Throws the error of the last write if no write has succeeded since. An engine whose disk is full can still be read,
   * so that a ping does not show it.
   */
  check(): void
}

/**
 * Milliseconds for which a failed write counts. After that the instance is ready again, because without requests it
 * would perhaps never write, and never notice that the engine works again.
 */
const failureMs = 10_000

/** Creates {@link WriteHealth} without a write. */
export function createWriteHealth(clock: Pick<Clock, 'monotonicNow'>): WriteHealth {
  let failure: { readonly error: unknown; readonly at: number } | undefined
  return {
    async watch(write, hasWritten = () => true) {
      try {
        const result = await write
        if (hasWritten(result)) failure = undefined
        return result
      } catch (error) {
        failure = { error, at: clock.monotonicNow() }
        throw error
      }
    },
    check() {
      if (failure !== undefined && clock.monotonicNow() - failure.at < failureMs) throw failure.error
    },
  }
}

/** Returns an engine whose writes are noted. It has the functions that a worker calls. */
export function watchWrites(engine: WorkerEngine, { watch }: WriteHealth): WorkerEngine {
  const isOwned = (state: LeaseState): boolean => state === 'owned'
  return {
    ...engine,
    claim: (request) => watch(engine.claim(request), ({ tasks }) => tasks.length > 0),
    record: (lease, progress) => watch(engine.record(lease, progress), isOwned),
    suspend: (lease, suspension) => watch(engine.suspend(lease, suspension), isOwned),
    release: (lease, taskRelease) => watch(engine.release(lease, taskRelease), isOwned),
    finish: (lease, taskEnd) => watch(engine.finish(lease, taskEnd), Boolean),
  }
}
