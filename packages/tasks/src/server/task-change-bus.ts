import { captureAsyncContext, type ChangeBus } from '@x/core'

const topicPrefix = 'task:'

/**
 * Delivers changes of tasks, from all instances, to the requests of this one that follow them. Listens to the bus only
 * while a task is followed.
 */
export class TaskChangeBus {
  readonly #bus: ChangeBus
  readonly #onError: (error: unknown) => void
  readonly #runInOrigin = captureAsyncContext()
  // Bounded by `topics` of the ledger.
  readonly #callbacksById = new Map<string, Set<() => void>>()
  #busSubscription: Promise<() => void> | undefined

  constructor(bus: ChangeBus, onError: (error: unknown) => void) {
    this.#bus = bus
    this.#onError = onError
  }

  /**
   * Notifies every instance that a task has changed. If the bus fails, that is only logged, because followers also
   * poll.
   */
  notifyChange(id: string): void {
    this.#bus.publish({ topic: `${topicPrefix}${id}` }).catch(this.#onError)
  }

  /**
   * Calls the callback whenever a task may have changed. Resolves, once no change can be missed, with the function that
   * stops these calls. Rejects when the bus cannot be reached.
   */
  async follow(id: string, callback: () => void): Promise<() => void> {
    // Each follower gets its own function, because the same callback may follow twice, and runs in the asynchronous
    // context of its own request, not of the one that changed the task.
    const runAsFollower = captureAsyncContext()
    const onChange = () => runAsFollower(callback)
    const callbacks = this.#callbacksById.get(id) ?? new Set()
    this.#callbacksById.set(id, callbacks.add(onChange))
    this.#busSubscription ??= this.#runInOrigin(() => this.#listen())
    try {
      await this.#busSubscription
    } catch (error) {
      this.#busSubscription = undefined
      this.#unfollow(id, onChange)
      throw error
    }
    return () => this.#unfollow(id, onChange)
  }

  #listen(): Promise<() => void> {
    return this.#bus.listen({
      onChange: ({ topic }) => topic.startsWith(topicPrefix) && this.#notifyFollowers(topic.slice(topicPrefix.length)),
      onGap: () => {
        for (const id of this.#callbacksById.keys()) this.#notifyFollowers(id)
      },
    })
  }

  #notifyFollowers(id: string): void {
    for (const onChange of this.#callbacksById.get(id) ?? []) onChange()
  }

  #unfollow(id: string, onChange: () => void): void {
    const callbacks = this.#callbacksById.get(id)
    callbacks?.delete(onChange)
    if (callbacks?.size === 0) this.#callbacksById.delete(id)
    if (this.#callbacksById.size > 0) return
    this.#busSubscription?.then((stop) => stop()).catch(this.#onError)
    this.#busSubscription = undefined
  }
}
