import type { Change, ChangeBus, ChangeListener } from '@x/core'

/** A task has become ready. */
export const workTopic = 'work'

/** A claimed task was cancelled; its id follows. */
export const cancelTopic = 'cancel:'

const topicPrefix = 'change:'

/**
 * Carries changes of tasks, over the same connection as the notifications that engines send to each other. Topics of
 * changes get a prefix, so that they differ from the engine's own.
 */
export class EngineNotifications implements ChangeBus {
  readonly #bus: ChangeBus
  // Bounded by the texts of the bus that wait.
  readonly #pendingSends = new Set<Promise<void>>()
  // Bounded by the workers and streams of the engine's host.
  readonly #stopFunctions = new Set<() => void>()

  constructor(bus: ChangeBus) {
    this.#bus = bus
  }

  /** Notifies the other engines, on behalf of this one. */
  notify(topic: string): Promise<void> {
    return this.#send({ topic })
  }

  publish(change: Change): Promise<void> {
    return this.#send({ ...change, topic: `${topicPrefix}${change.topic}` })
  }

  listen(listener: ChangeListener): Promise<() => void> {
    const listening = this.#bus.listen({
      onChange: (change) => {
        const { topic } = change
        if (topic.startsWith(topicPrefix)) listener.onChange({ ...change, topic: topic.slice(topicPrefix.length) })
      },
      onGap: () => listener.onGap(),
    })
    return this.addListening(listening)
  }

  /** Lets a listener end with the engine, and resolves with the function that stops it once. */
  async addListening(listening: Promise<() => void>): Promise<() => void> {
    const stop = await listening
    const stopOnce = (): void => void (this.#stopFunctions.delete(stopOnce) && stop())
    this.#stopFunctions.add(stopOnce)
    return stopOnce
  }

  /** Stops all listeners, and resolves once every notification so far was sent or has failed. */
  async close(): Promise<void> {
    for (const stop of this.#stopFunctions) stop()
    await Promise.allSettled(this.#pendingSends)
  }

  #send(change: Change): Promise<void> {
    const sendPromise = this.#bus.publish(change).finally(() => this.#pendingSends.delete(sendPromise))
    this.#pendingSends.add(sendPromise)
    return sendPromise
  }
}
