import type { Clock } from '@x/schema'

/** Work that is requested repeatedly, and done once for all requests since the last time. */
export interface DebouncedWork {
  /** Does the work within the time; while it runs, once more after it. */
  want(): void
  /** Starts no further work. */
  stop(): void
}

/** Options of {@link debounceWork}. */
export interface DebounceOptions {
  readonly work: () => Promise<void>
  readonly failed: (error: unknown) => void
  /**
   * The work starts at a random moment within this time, in milliseconds, so that the clients of a server do not all
   * return at once.
   */
  readonly jitterMs: number
  readonly clock: Clock
}

/** Makes a {@link DebouncedWork}. */
export function debounceWork({ work, failed, jitterMs, clock }: DebounceOptions): DebouncedWork {
  let timer: unknown
  let state: 'idle' | 'waiting' | 'working' | 'again' | 'stopped' = 'idle'
  const finished = (): void => {
    const isAgain = state === 'again'
    if (state !== 'stopped') state = 'idle'
    if (isAgain) want()
  }
  const start = (): void => {
    state = 'working'
    work().catch(failed).finally(finished)
  }
  const want = (): void => {
    if (state === 'working') state = 'again'
    if (state !== 'idle') return
    state = 'waiting'
    timer = clock.setTimeout(start, Math.random() * jitterMs)
  }
  return {
    want,
    stop: () => {
      state = 'stopped'
      clock.clearTimeout(timer)
    },
  }
}
