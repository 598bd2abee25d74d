import { unref } from '@x/schema'

// Taken when the module loads, so that a test's fake timers do not keep a server from measuring.
const { setTimeout } = globalThis

/** Runs a function once after so many milliseconds. Where the platform can, the timer does not keep the process alive. */
export function unrefTimer(run: () => void, ms: number): void {
  unref(setTimeout(run, ms))
}
