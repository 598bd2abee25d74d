import type { Clock } from '@x/core'
import type { LeaseState } from '../engines/engine.ts'
import type { WorkerEngine } from './worker/bounded-engine.ts'

/** Knows whether the last write to an engine succeeded. */
export interface WriteHealth {
  /** Notes how a write ended, and returns the write. `hasWritten` returns false for results that wrote nothing. */
  watch<T>(write: Promise<T>, hasWritten?: (result: T) => boolean): Promise<T>
  /**
   * Throws the last write's error if no write has succeeded since. With a full disk an engine can still be read, so a
   * ping would not show it.
   */
  check(): void
}

/**
 * Milliseconds for which a failed write counts. After that the instance is ready again, because without requests it
 * would perhaps never write, and never notice that the engine works again.
 */
const failureMs = 10_000

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

/** Notes every write. Has what a worker calls. */
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
