import type { Clock } from '@x/core'
import type { LeaseState } from '../engines/engine.ts'
import type { WorkerEngine } from './worker/bounded-engine.ts'

/**
 * Milliseconds for which a failed write counts. After that the instance is ready again, because without requests it
 * would perhaps never write, and never notice that the engine works again.
 */
const failureMs = 10_000

/** Knows whether the last write to an engine succeeded. */
export class WriteHealth {
  readonly #clock: Pick<Clock, 'monotonicNow'>
  #failure: { readonly error: unknown; readonly at: number } | undefined

  constructor(clock: Pick<Clock, 'monotonicNow'>) {
    this.#clock = clock
  }

  /** Notes how a write ended, and returns the write. `hasWritten` returns false for results that wrote nothing. */
  async watch<T>(write: Promise<T>, hasWritten: (result: T) => boolean): Promise<T> {
    try {
      const result = await write
      if (hasWritten(result)) this.#failure = undefined
      return result
    } catch (error) {
      this.#failure = { error, at: this.#clock.monotonicNow() }
      throw error
    }
  }

  /**
   * Throws the last write's error if no write has succeeded since. With a full disk an engine can still be read, so a
   * ping would not show it.
   */
  check(): void {
    if (this.#failure !== undefined && this.#clock.monotonicNow() - this.#failure.at < failureMs)
      throw this.#failure.error
  }
}

/** Notes every write. Has what a worker calls. */
export function watchWrites(engine: WorkerEngine, health: WriteHealth): WorkerEngine {
  const isOwned = (state: LeaseState): boolean => state === 'owned'
  return {
    ...engine,
    claim: (request) => health.watch(engine.claim(request), ({ tasks }) => tasks.length > 0),
    record: (lease, progress) => health.watch(engine.record(lease, progress), isOwned),
    suspend: (lease, suspension) => health.watch(engine.suspend(lease, suspension), isOwned),
    release: (lease, taskRelease) => health.watch(engine.release(lease, taskRelease), isOwned),
    finish: (lease, taskEnd) => health.watch(engine.finish(lease, taskEnd), Boolean),
  }
}
