import { offAbort, onAbort } from '@x/core'
import { unrefTimer } from '../unref-timer.ts'
import type { TaskContext } from '../task-context.ts'

/** Waits so many milliseconds, or until the signal aborts; does not keep the process alive. */
export function sleep(ms: number, signal: AbortSignal, { settings: { clock } }: TaskContext): Promise<void> {
  return new Promise((resolve) => {
    const finishSleep = (): void => {
      clock.clearTimeout(timer)
      offAbort(signal, finishSleep)
      resolve()
    }
    const timer = unrefTimer(clock, finishSleep, ms)
    onAbort(signal, finishSleep)
  })
}
