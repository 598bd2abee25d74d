import { type Clock, platformRuntime } from './runtime.ts'

const stopSignals = ['SIGTERM', 'SIGINT'] as const
// Not `NodeJS.Signals`: pages compile this package without the types of Node.
type StopSignal = (typeof stopSignals)[number]

/**
 * Milliseconds after a signal to stop in which another one is the same request. Ctrl-C reaches every process of a
 * terminal's command, and runners pass it on once more: `npx` as SIGINT, `pnpm exec` as SIGTERM.
 */
export const signalRepeatMs = 300

/**
 * Calls `stop` at the first signal that asks the process to end; a second one, after {@link signalRepeatMs}, ends it at
 * once. The returned function removes the listeners.
 *
 * They stay during the stop, because other code decides by their presence whether the signal is handled: the
 * connections to child processes, and packages such as `signal-exit`, would otherwise end the process in the middle of
 * the grace.
 */
export function onStopSignal(
  stop: (signal: StopSignal) => void,
  clock: Pick<Clock, 'monotonicNow' | 'setTimeout'> = platformRuntime,
): () => void {
  let stoppedAt: number | undefined
  const removeListeners = (): void => {
    for (const signal of stopSignals) process.off(signal, handleSignal)
  }
  const handleSignal = (signal: StopSignal): void => {
    if (stoppedAt === undefined) {
      stoppedAt = clock.monotonicNow()
      stop(signal)
    } else if (clock.monotonicNow() - stoppedAt >= signalRepeatMs) {
      removeListeners()
      endBySignal(signal, clock)
    }
  }
  for (const signal of stopSignals) process.on(signal, handleSignal)
  return removeListeners
}

/** As POSIX numbers them. */
const signalNumbers = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const

const exitDelayMs = 50

/**
 * Ends this process as a signal without a listener does, or else with the exit code of one: a listener of the author may
 * remain, and process 1 of a container does not get a signal that it does not listen to.
 */
export function endBySignal(
  signal: keyof typeof signalNumbers,
  clock: Pick<Clock, 'setTimeout'> = platformRuntime,
): void {
  process.kill(process.pid, signal)
  // Listeners run before the immediate, however late the timer is.
  clock.setTimeout(() => setImmediate(() => process.exit(128 + signalNumbers[signal])), exitDelayMs)
}
