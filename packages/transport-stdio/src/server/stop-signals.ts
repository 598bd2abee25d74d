const names = ['SIGTERM', 'SIGINT'] as const

/**
 * Calls back at the first SIGTERM or SIGINT, and never twice. From then on, and when the returned function is called, a signal
 * does what it does by default, so that a second one ends a process that takes its time.
 */
export function onStopSignal(stop: (signal: string) => void): () => void {
  const release = (): void => {
    for (const name of names) process.off(name, fire)
  }
  const fire = (name: string): void => {
    release()
    stop(name)
  }
  for (const name of names) process.on(name, fire)
  return release
}
