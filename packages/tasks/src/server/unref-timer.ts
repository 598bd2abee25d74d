import { type Clock, unref } from '@x/core'

/** Sets a timer that, where the platform can, does not keep the process alive. */
export function unrefTimer(clock: Clock, callback: () => void, ms: number): unknown {
  const timer = clock.setTimeout(callback, ms)
  unref(timer)
  return timer
}
