const stopSignals = ['SIGTERM', 'SIGINT'] as const
// Not `NodeJS.Signals`: pages compile this package without the types of Node.
type StopSignal = (typeof stopSignals)[number]

/**
 * Calls `stop` at the first signal that asks the process to end; a second one ends it at once. The returned function
 * removes the listeners.
 *
 * They stay during the stop, because other code decides by their presence whether the signal is handled: the
 * connections to child processes, and packages such as `signal-exit`, would otherwise end the process in the middle of
 * the grace.
 */
export function onStopSignal(stop: (signal: StopSignal) => void): () => void {
  let isStopping = false
  const removeListeners = (): void => {
    for (const signal of stopSignals) process.off(signal, handleSignal)
  }
  const handleSignal = (signal: StopSignal): void => {
    if (isStopping) {
      removeListeners()
      process.kill(process.pid, signal)
      return
    }
    isStopping = true
    stop(signal)
  }
  for (const signal of stopSignals) process.on(signal, handleSignal)
  return removeListeners
}
