import type { CallDeps } from '../../call/call-deps.ts'
import type { LinkContext } from './link-context.ts'

/**
 * Runs `catchUp` until it succeeds, because the store may be unreachable or have lost records. Calling it during a run
 * causes one more run.
 */
export function createCatchUp(
  { retryUnavailable, reportError }: Pick<CallDeps, 'retryUnavailable' | 'reportError'>,
  signal: AbortSignal,
  catchUp: () => Promise<void>,
): () => Promise<void> {
  let isRunning = false
  let isDue = false
  const runOnce = async (): Promise<void> => {
    isDue = false
    await catchUp()
  }
  return async () => {
    isDue = true
    if (isRunning) return
    isRunning = true
    try {
      while (isDue && !signal.aborted) await retryUnavailable(runOnce, { signal })
    } catch (error) {
      if (!signal.aborted) reportError(error)
    } finally {
      isRunning = false
    }
  }
}

/** Marks the store, until that has succeeded once. */
export function createMarkFunction({ store, bus }: LinkContext): () => Promise<void> {
  let markPromise: Promise<void> | undefined
  const mark = async (): Promise<void> => {
    try {
      // The store may have been emptied in an outage that this instance did not see.
      if (await store.mark()) bus.noteGap()
    } catch {
      // The request that follows meets the same failure and reports it.
      markPromise = undefined
    }
  }
  return () => (markPromise ??= mark())
}
