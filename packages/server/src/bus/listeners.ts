import type { Change, ChangeListener } from '../subscriptions/change-bus.ts'

/** Those who listen on one bus in this process. */
export interface Listeners {
  /** How many there are. */
  readonly count: number
  /** Adds one; the function that is returned removes it, and from then on it hears nothing. */
  add(listener: ChangeListener): () => void
  /** Gives a change to each of them. */
  tellChange(change: Change): void
  /** Tells each of them that changes may have been lost. */
  tellGap(): void
}

/** Makes {@link Listeners}. What one of them throws goes to `onError`, and the others hear nonetheless. */
export function createListeners(onError: (error: unknown) => void): Listeners {
  const entries = new Map<symbol, ChangeListener>()
  const waiting: ((listener: ChangeListener) => void)[] = []
  let telling = false

  const tellEach = (tell: (listener: ChangeListener) => void): void => {
    // A copy, for a listener may add and remove others; one that was removed meanwhile hears nothing.
    for (const [key, listener] of [...entries]) {
      if (!entries.has(key)) continue
      try {
        tell(listener)
      } catch (error) {
        onError(error)
      }
    }
  }

  const tellAll = (tell: (listener: ChangeListener) => void): void => {
    waiting.push(tell)
    // A listener that publishes is inside the loop below: its change waits its turn instead of deepening the stack.
    if (telling) return
    telling = true
    try {
      for (let next = waiting.shift(); next; next = waiting.shift()) tellEach(next)
    } finally {
      telling = false
    }
  }

  return {
    get count() {
      return entries.size
    },
    add(listener) {
      // The same listener may be added twice, and each time is stopped on its own.
      const key = Symbol('listener')
      entries.set(key, listener)
      return () => void entries.delete(key)
    },
    tellChange: (change) => tellAll((listener) => listener.onChange(change)),
    tellGap: () => tellAll((listener) => listener.onGap()),
  }
}
