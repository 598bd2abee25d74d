import type { Change, ChangeBus } from '@x/server'

/** The news of others over an engine's own bus, beside what the engine tells. */
export interface EngineNotifications extends ChangeBus {
  /** Tells the other engines something under a topic of the engine's own. */
  notify(topic: string): Promise<void>
  /** Resolves when everything is sent that was to be sent by now; what failed was told to whoever sent it. */
  sent(): Promise<void>
}

const prefix = 'news:'

/** Makes {@link EngineNotifications}. Topics of others have a prefix, so that none is taken for one of the engine's. */
export function engineNotifications(bus: ChangeBus): EngineNotifications {
  const sending = new Set<Promise<void>>()
  const send = (change: Change): Promise<void> => {
    const sent = bus.publish(change).finally(() => sending.delete(sent))
    sending.add(sent)
    return sent
  }
  return {
    notify: (topic) => send({ topic }),
    sent: async () => void (await Promise.allSettled(sending)),
    publish: (change) => send({ ...change, topic: `${prefix}${change.topic}` }),
    listen: (listener) =>
      bus.listen({
        onChange: (change) => {
          const { topic } = change
          if (topic.startsWith(prefix)) listener.onChange({ ...change, topic: topic.slice(prefix.length) })
        },
        onGap: () => listener.onGap(),
      }),
  }
}
