import type { Clock } from '@x/core'

/** Waits for a promise up to a time limit; resolves to `true` if it settled in time. */
export function withTimeout(promise: Promise<unknown>, ms: number, clock: Clock): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = clock.setTimeout(() => resolve(false), ms)
    const finish = (): void => {
      clock.clearTimeout(timer)
      resolve(true)
    }
    promise.then(finish, finish)
  })
}
