/** The signals with which supervisors and terminals ask a process to end. */
const asked = ['SIGTERM', 'SIGINT'] as const

/**
 * Runs a function at the first of the signals that ask the process to end. A second one ends it at once, as it would without this. What
 * is returned takes the listeners away.
 */
export function onStopSignal(run: () => void): () => void {
  const forget = (): void => {
    for (const signal of asked) process.off(signal, stop)
  }
  const stop = (): void => {
    forget()
    run()
  }
  for (const signal of asked) process.on(signal, stop)
  return forget
}
