import type { Clock } from '@x/schema'

/** Work that is wanted again and again, and done once for all who wanted it since. */
export interface Soon {
  /** Does the work within the time; while it runs, once more after it. */
  want(): void
  /** Starts nothing any more. */
  stop(): void
}

/** What {@link createSoon} takes. */
export interface SoonOptions {
  readonly work: () => Promise<void>
  readonly failed: (error: unknown) => void
  /** The work starts at a random moment within, in milliseconds, so that the clients of a server do not all come at once. */
  readonly spreadMs: number
  readonly clock: Clock
}

/** Makes a {@link Soon}. */
export function createSoon({ work, failed, spreadMs, clock }: SoonOptions): Soon {
  let timer: unknown
  let state: 'idle' | 'waiting' | 'working' | 'again' | 'stopped' = 'idle'
  const over = (): void => {
    const isAgain = state === 'again'
    if (state !== 'stopped') state = 'idle'
    if (isAgain) want()
  }
  const start = (): void => {
    state = 'working'
    work().catch(failed).finally(over)
  }
  const want = (): void => {
    if (state === 'working') state = 'again'
    if (state !== 'idle') return
    state = 'waiting'
    timer = clock.setTimeout(start, Math.random() * spreadMs)
  }
  return {
    want,
    stop: () => {
      state = 'stopped'
      clock.clearTimeout(timer)
    },
  }
}
