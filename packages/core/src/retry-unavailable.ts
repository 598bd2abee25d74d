import { isUnavailable } from './unavailable.ts'
import { raceWithCancellation, sleep } from './waiting.ts'

const retryPauseMs = 250

/**
 * Runs an operation on a store, and repeats it while the store is unreachable. Rejects with the last error after
 * `timeoutMs` milliseconds, or with the reason of the signal.
 */
export async function retryUnavailable<T>(
  operation: () => Promise<T>,
  {
    timeoutMs,
    ...pause
  }: { readonly timeoutMs: number } & Pick<Parameters<typeof sleep>[1], 'clock' | 'signal' | 'isBackground'>,
): Promise<T> {
  const { clock, signal } = pause
  const triesUntil = clock.monotonicNow() + timeoutMs
  for (;;) {
    try {
      return await (signal === undefined ? operation() : raceWithCancellation(operation(), signal))
    } catch (error) {
      if (signal?.aborted === true || !isUnavailable(error) || clock.monotonicNow() >= triesUntil) throw error
      await sleep(retryPauseMs, pause)
    }
  }
}
