import { captureAsyncContext, type ChangeBus } from '@x/core'

/** Carries changes of tasks from any instance to the requests that follow them here. */
export interface TaskChangeBus {
  /**
   * Notifies every instance of a change of a task. A failure of the bus is reported, because followers poll as well.
   */
  notifyChange(id: string): void
  /**
   * Calls back when a task may have changed, and resolves with the function that ends this. No change after that is
   * missed. Rejects when the bus cannot be reached.
   */
  follow(id: string, onChange: () => void): Promise<() => void>
}

const topicPrefix = 'task:'

/** Creates a {@link TaskChangeBus} over a bus, which is listened to while a task is followed. */
export function createTaskChangeBus(bus: ChangeBus, onError: (error: unknown) => void): TaskChangeBus {
  const runInOrigin = captureAsyncContext()
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
      // The same callback may follow twice. Each time it runs in the asynchronous context of the request that follows,
      // and not of the one that changed the task.
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
