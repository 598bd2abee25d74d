import { captureAsyncContext, type ChangeBus } from '@x/core'

/** Delivers changes of tasks, from all instances, to the requests of this one that follow them. */
export interface TaskChangeBus {
  /**
   * Notifies every instance that a task has changed. If the bus fails, that is only logged, because followers also
   * poll.
   */
  notifyChange(id: string): void
  /**
   * Calls `onChange` whenever a task may have changed. Resolves, once no change can be missed, with the function that
   * stops these calls. Rejects when the bus cannot be reached.
   */
  follow(id: string, onChange: () => void): Promise<() => void>
}

const topicPrefix = 'task:'

/** Listens to the bus only while a task is followed. */
export function createTaskChangeBus(bus: ChangeBus, onError: (error: unknown) => void): TaskChangeBus {
  const runInOrigin = captureAsyncContext()
  // Bounded by `topics` of the ledger.
  const callbacksById = new Map<string, Set<() => void>>()
  let busSubscription: Promise<() => void> | undefined

  const notifyFollowers = (id: string): void => {
    for (const onChange of callbacksById.get(id) ?? []) onChange()
  }
  const listener = {
    onChange: ({ topic }: { readonly topic: string }) =>
      topic.startsWith(topicPrefix) && notifyFollowers(topic.slice(topicPrefix.length)),
    onGap: () => {
      for (const id of callbacksById.keys()) notifyFollowers(id)
    },
  }
  const unsubscribe = (id: string, onChange: () => void): void => {
    const callbacks = callbacksById.get(id)
    callbacks?.delete(onChange)
    if (callbacks?.size === 0) callbacksById.delete(id)
    if (callbacksById.size > 0 || busSubscription === undefined) return
    const closingSubscription = busSubscription
    busSubscription = undefined
    closingSubscription.then((stop) => stop()).catch(onError)
  }
  return {
    notifyChange: (id) => void bus.publish({ topic: `${topicPrefix}${id}` }).catch(onError),
    follow: async (id, callback) => {
      // Each follower gets its own function, because the same callback may follow twice, and runs in the asynchronous
      // context of its own request, not of the one that changed the task.
      const runAsFollower = captureAsyncContext()
      const onChange = () => runAsFollower(callback)
      const callbacks = callbacksById.get(id) ?? new Set()
      callbacksById.set(id, callbacks.add(onChange))
      busSubscription ??= runInOrigin(() => bus.listen(listener))
      try {
        await busSubscription
      } catch (error) {
        busSubscription = undefined
        unsubscribe(id, onChange)
        throw error
      }
      return () => unsubscribe(id, onChange)
    },
  }
}
