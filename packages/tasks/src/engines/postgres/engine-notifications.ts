import type { Change, ChangeBus } from '@x/core'

/** Changes of tasks over an engine's bus, beside the notifications of the engine itself. */
export interface EngineNotifications extends ChangeBus {
  /** Notifies the other engines under a topic of the engine itself. */
  notify(topic: string): Promise<void>
  /** Resolves when every notification so far was sent or has failed. */
  flush(): Promise<void>
}

const topicPrefix = 'change:'

/** Creates {@link EngineNotifications}. Topics of tasks have a prefix, so that none equals one of the engine. */
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
