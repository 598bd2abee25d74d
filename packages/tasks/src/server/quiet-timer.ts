import type { Clock } from '@x/schema'

/** Sets a timer that, where the platform can, does not keep the process alive. */
export function quietTimer(clock: Clock, run: () => void, ms: number): unknown {
  const timer = clock.setTimeout(run, ms)
  // On Node a timer is an object, elsewhere a number.
  if (typeof timer === 'object' && timer !== null && 'unref' in timer && typeof timer.unref === 'function')
    timer.unref()
  return timer
}
