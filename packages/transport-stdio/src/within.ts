import type { Clock } from '@x/schema'

/** Waits for a promise, but no longer than so many milliseconds; says whether it settled in that time. */
export function within(promise: Promise<unknown>, ms: number, clock: Clock): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = clock.setTimeout(() => resolve(false), ms)
    const settled = (): void => {
      clock.clearTimeout(timer)
      resolve(true)
    }
    promise.then(settled, settled)
  })
}
