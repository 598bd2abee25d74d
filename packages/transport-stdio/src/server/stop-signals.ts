const signalNames = ['SIGTERM', 'SIGINT'] as const

/**
 * Calls back once, at the first SIGTERM or SIGINT. After that, or after the returned function is called, signals have
 * their default effect, so that a second one ends a slow process.
 */
export function onFirstStopSignal(stop: (signal: string) => void): () => void {
  const removeProcessListeners = (): void => {
    for (const name of signalNames) process.off(name, handleStopSignal)
  }
  const handleStopSignal = (name: string): void => {
    removeProcessListeners()
    stop(name)
  }
  for (const name of signalNames) process.on(name, handleStopSignal)
  return removeProcessListeners
}
