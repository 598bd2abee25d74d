import { type ErrorListener, errorListener } from '../error-listener.ts'
import type { Change, ChangeBus, ChangeListener } from './change-bus.ts'

/** The options of {@link memoryBus}. */
export interface MemoryBusOptions {
  /**
   * Receives errors that a listener throws; the other listeners are called nonetheless. Default: a line of
   * `console.error`; `false` for none.
   */
  readonly onError?: ErrorListener<[error: unknown]>
}

/**
 * A bus within this process: what is published on it reaches whoever listens on the same object, before `publish`
 * returns (from within a listener: in turn, after the changes before it). It never loses a change, and never rejects.
 */
export function memoryBus(options: MemoryBusOptions = {}): ChangeBus {
  const listeners = createListenerRegistry(createErrorReporter(options.onError))
  return {
    publish(change) {
      listeners.notifyChange(change)
      return Promise.resolve()
    },
    listen: (listener) => Promise.resolve(listeners.add(listener)),
  }
}

/** The listeners of one bus in this process. */
interface ListenerRegistry {
  /** The number of listeners. */
  readonly count: number
  /** Adds one; the function that is returned removes it, and from then on it hears nothing. */
  add(listener: ChangeListener): () => void
  /** Passes a change to each listener. */
  notifyChange(change: Change): void
  /** Notifies each listener that changes may have been lost. */
  notifyGap(): void
}

interface ListenerEntry {
  readonly listener: ChangeListener
  isStopped: boolean
}

/** Makes {@link ListenerRegistry}. What one of them throws goes to `onError`, and the others hear nonetheless. */
export function createListenerRegistry(onError: (error: unknown) => void): ListenerRegistry {
  // Each is an entry of its own, for the same listener may be added twice and stopped once. The list is never altered:
  // telling goes through the one that it began with, whoever comes meanwhile.
  let entries: readonly ListenerEntry[] = []
  const pendingNotifications: ((listener: ChangeListener) => void)[] = []
  let isNotifying = false

  const notifyEach = (notify: (listener: ChangeListener) => void): void => {
    for (const entry of entries) {
      if (entry.isStopped) continue
      try {
        notify(entry.listener)
      } catch (error) {
        onError(error)
      }
    }
  }

  const notifyListeners = (notify: (listener: ChangeListener) => void): void => {
    pendingNotifications.push(notify)
    // A listener that publishes is inside the loop below: its change waits its turn instead of deepening the stack.
    if (isNotifying) return
    isNotifying = true
    try {
      for (
        let nextNotification = pendingNotifications.shift();
        nextNotification;
        nextNotification = pendingNotifications.shift()
      )
        notifyEach(nextNotification)
    } finally {
      isNotifying = false
    }
  }

  return {
    get count() {
      return entries.length
    },
    add(listener) {
      const entry: ListenerEntry = { listener, isStopped: false }
      entries = [...entries, entry]
      return () => {
        entry.isStopped = true
        entries = entries.filter((otherEntry) => otherEntry !== entry)
      }
    },
    notifyChange: (change) => notifyListeners((listener) => listener.onChange(change)),
    notifyGap: () => notifyListeners((listener) => listener.onGap()),
  }
}

/**
 * Wraps an `onError` so that it may be called anywhere: an error that it throws itself is dropped, because others wait
 * for their turn. Without an `onError`, each error is a line of `console.error`.
 */
export function createErrorReporter(givenListener: ErrorListener<[error: unknown]>): (error: unknown) => void {
  const onError = errorListener(givenListener, '@x/core', () => 'change bus')
  return (error) => {
    try {
      onError(error)
    } catch {
      // An error of the error handler cannot be reported to it.
    }
  }
}
