/** The listeners of one engine, which end with the engine. */
export interface ListenerSet {
  /** Registers a listener by the function that stops it. Resolves with a function that stops it once. */
  add(listening: Promise<() => void>): Promise<() => void>
  stopAll(): void
}

/** Creates a {@link ListenerSet} without a listener. */
export function createListenerSet(): ListenerSet {
  const stopFunctions = new Set<() => void>()
  return {
    async add(listening) {
      const stop = await listening
      const stopOnce = (): void => void (stopFunctions.delete(stopOnce) && stop())
      stopFunctions.add(stopOnce)
      return stopOnce
    },
    stopAll() {
      for (const stop of stopFunctions) stop()
    },
  }
}
