import type { Change, ChangeBus } from '@x/core'

/** A bus for changes of tasks, which shares its connection with the notifications that engines send to each other. */
export interface EngineNotifications extends ChangeBus {
  /** Sends a notification of the engine itself to the other engines. */
  notify(topic: string): Promise<void>
  /** Resolves once every notification so far was sent or has failed. */
  flush(): Promise<void>
}

/** The topic of the notification that a task has become ready. */
export const workTopic = 'work'

/** The start of the topic of the notification that a claimed task was cancelled. The id of the task follows. */
export const cancelTopic = 'cancel:'

const topicPrefix = 'change:'

/**
 * Creates {@link EngineNotifications}. Topics of changes get a prefix, so that they differ from the topics of the
 * engine.
 */
export function createEngineNotifications(bus: ChangeBus): EngineNotifications {
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
