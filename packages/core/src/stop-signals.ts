import { constants } from 'node:os'
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
  { monotonicNow }: Pick<Clock, 'monotonicNow'> = platformRuntime,
): () => void {
  let stoppedAt: number | undefined
  const removeListeners = (): void => {
    for (const signal of stopSignals) process.off(signal, handleSignal)
  }
  const handleSignal = (signal: StopSignal): void => {
    if (stoppedAt === undefined) {
      stoppedAt = monotonicNow()
      stop(signal)
    } else if (monotonicNow() - stoppedAt >= signalRepeatMs) {
      removeListeners()
      endBySignal(signal)
    }
  }
  for (const signal of stopSignals) process.on(signal, handleSignal)
  return removeListeners
}

/** Ends this process as a signal without a listener does. */
export function endBySignal(signal: keyof typeof constants.signals): void {
  process.kill(process.pid, signal)
  // In a container, the system drops a signal that process 1 does not listen to.
  if (process.pid === 1) process.exit(128 + constants.signals[signal])
}
