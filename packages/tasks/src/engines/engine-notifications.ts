import type { Change, ChangeBus } from '@x/core'

/** Carries changes of tasks, over the same connection as the notifications that engines send to each other. */
export interface EngineNotifications extends ChangeBus {
  /** Notifies the other engines, on behalf of this one. */
  notify(topic: string): Promise<void>
  /** Resolves once every notification so far was sent or has failed. */
  flush(): Promise<void>
}

/** A task has become ready. */
export const workTopic = 'work'

/** A claimed task was cancelled; its id follows. */
export const cancelTopic = 'cancel:'

const topicPrefix = 'change:'

/** Topics of changes get a prefix, so that they differ from the engine's own. */
export function createEngineNotifications(bus: ChangeBus): EngineNotifications {
  // Bounded by the texts of the bus that wait.
  const pendingSends = new Set<Promise<void>>()
  const sendChange = (change: Change): Promise<void> => {
    const sendPromise = bus.publish(change).finally(() => pendingSends.delete(sendPromise))
    pendingSends.add(sendPromise)
    return sendPromise
  }
  return {
    notify: (topic) => sendChange({ topic }),
    flush: async () => void (await Promise.allSettled(pendingSends)),
    publish: (change) => sendChange({ ...change, topic: `${topicPrefix}${change.topic}` }),
    listen: (listener) =>
      bus.listen({
        onChange: (change) => {
          const { topic } = change
          if (topic.startsWith(topicPrefix)) listener.onChange({ ...change, topic: topic.slice(topicPrefix.length) })
        },
        onGap: () => listener.onGap(),
      }),
  }
}

/** Listeners of one engine, which end with it. */
export interface ListenerSet {
  /** Registers a listener by the function that stops it, and resolves with one that stops it once. */
  add(listening: Promise<() => void>): Promise<() => void>
  stopAll(): void
}

export function createListenerSet(): ListenerSet {
  // Bounded by the workers and streams of the engine's host.
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
