import type { Change, ChangeBus } from '@x/core'

/** The news of others over an engine's own bus, beside the engine's own notifications. */
export interface EngineNotifications extends ChangeBus {
  /** Notifies the other engines of something under a topic of the engine's own. */
  notify(topic: string): Promise<void>
  /** Resolves when everything is sent that was to be sent by now. Each failure was reported to its sender. */
  flush(): Promise<void>
}

const topicPrefix = 'news:'

/** Makes {@link EngineNotifications}. Topics of others have a prefix, so that none is taken for one of the engine's. */
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
