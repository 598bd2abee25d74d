const names = ['SIGTERM', 'SIGINT'] as const

/**
 * Calls back once, at the first SIGTERM or SIGINT. After that, or after the returned function is called, signals have
 * their default effect, so that a second one ends a slow process.
 */
export function onFirstStopSignal(stop: (signal: string) => void): () => void {
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
