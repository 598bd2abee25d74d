import { type Clock, offAbort, onAbort } from '@x/core'

/** The clock and the ends of a wait. */
export interface SleepOptions {
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Is given what ends the wait early. */
  readonly wakeBy?: ((wake: () => void) => void) | undefined
}

/** Waits, or rejects with the signal's reason. */
export async function sleep(ms: number, { clock, signal, wakeBy }: SleepOptions): Promise<void> {
  signal.throwIfAborted()
  let timer: unknown
  let cancel = (): void => {}
  try {
    await new Promise<void>((resolve, reject) => {
      cancel = () => reject(signal.reason)
      onAbort(signal, cancel)
      timer = clock.setTimeout(resolve, ms)
      wakeBy?.(resolve)
    })
  } finally {
    clock.clearTimeout(timer)
    offAbort(signal, cancel)
  }
}
