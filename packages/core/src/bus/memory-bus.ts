import { callListener } from '../callback.ts'
import { createLog, errorRecord, type Log } from '../log.ts'
import type { Change, ChangeBus, ChangeListener } from './change-bus.ts'

/** The options of {@link memoryBus}. */
export interface MemoryBusOptions {
  /** Gets what a listener throws; the other listeners are still called. Default: writes a line to stderr. */
  readonly log?: Log | undefined
}

/**
 * A bus within this process. A change reaches every listener of this object before `publish` returns; one that a
 * listener publishes comes after all earlier ones. No change is lost, and `publish` never rejects.
 */
export function memoryBus(options: MemoryBusOptions = {}): ChangeBus {
  const log = createLog(options.log, '@x/core')
  const listeners = createListenerRegistry((error) => log(errorRecord(error, { name: 'change bus' })))
  return {
    publish(change) {
      listeners.notifyChange(change)
      return Promise.resolve()
    },
    listen: (listener) => Promise.resolve(listeners.add(listener)),
    ping: () => Promise.resolve(),
  }
}

interface ListenerRegistry {
  readonly count: number
  add(listener: ChangeListener): () => void
  notifyChange(change: Change): void
  notifyGap(): void
}

interface ListenerEntry {
  readonly listener: ChangeListener
  isStopped: boolean
}

/** When a listener throws, the error goes to `onError` and the other listeners are still called. */
export function createListenerRegistry(onError: (error: unknown) => void): ListenerRegistry {
  // Each addition has an entry of its own, because the same listener may be added twice and removed once. The list is
  // replaced and never altered, so that a notification goes to those who listened when it began.
  let entries: readonly ListenerEntry[] = []
  const pendingNotifications: ((listener: ChangeListener) => void)[] = []
  let isNotifying = false

  const notifyEach = (notify: (listener: ChangeListener) => unknown): void => {
    for (const entry of entries) {
      if (!entry.isStopped) callListener(notify, entry.listener, onError)
    }
  }

  const notifyListeners = (notify: (listener: ChangeListener) => void): void => {
    pendingNotifications.push(notify)
    // A listener may publish while the loop below calls it. Its change waits for the loop, because a nested one would
    // deepen the stack.
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
