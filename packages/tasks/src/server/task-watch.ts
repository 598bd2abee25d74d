import type { ChangeBus } from '@x/server'

/** Carries the news that tasks have changed, from wherever it happened to whoever looks at them here. */
export interface TaskWatch {
  /** Tells every instance that something of a task has changed. A bus that fails is reported: who waits looks by itself as well. */
  changed(id: string): void
  /**
   * Calls back when a task may have changed, until the function that it resolves with is called. When it resolves, no change from
   * then on is missed. Rejects when the bus cannot be reached.
   */
  follow(id: string, onChange: () => void): Promise<() => void>
}

const prefix = 'task:'

/** Makes a {@link TaskWatch} over a bus, which is listened to while somebody follows a task. */
export function createTaskWatch(bus: ChangeBus, onError: (error: unknown) => void): TaskWatch {
  const followers = new Map<string, Set<() => void>>()
  let opening: Promise<() => void> | undefined

  const notify = (id: string): void => {
    for (const onChange of followers.get(id) ?? []) onChange()
  }
  const listener = {
    onChange: ({ topic }: { readonly topic: string }) => topic.startsWith(prefix) && notify(topic.slice(prefix.length)),
    onGap: () => {
      for (const id of followers.keys()) notify(id)
    },
  }
  const unsubscribe = (id: string, onChange: () => void): void => {
    const those = followers.get(id)
    those?.delete(onChange)
    if (those?.size === 0) followers.delete(id)
    if (followers.size > 0 || opening === undefined) return
    const opened = opening
    opening = undefined
    opened.then((stop) => stop()).catch(onError)
  }
  return {
    changed: (id) => void bus.publish({ topic: `${prefix}${id}` }).catch(onError),
    follow: async (id, callback) => {
      // Each is a function of its own, for the same one may follow twice.
      const onChange = () => callback()
      const those = followers.get(id) ?? new Set()
      followers.set(id, those.add(onChange))
      opening ??= bus.listen(listener)
      try {
        await opening
      } catch (error) {
        opening = undefined
        unsubscribe(id, onChange)
        throw error
      }
      return () => unsubscribe(id, onChange)
    },
  }
}
