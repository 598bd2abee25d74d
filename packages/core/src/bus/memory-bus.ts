import { callListener } from '../callback.ts'
import { errorRecord, type Log, PartLog } from '../log.ts'
import type { Change, ChangeBus, ChangeListener } from './change-bus.ts'

/** The options of {@link memoryBus}. */
export interface MemoryBusOptions {
  /**
   * Gets what a listener throws; the other listeners are still called. Default: the log of the server that gets the bus,
   * or else a line on stderr.
   */
  readonly log?: Log | undefined
}

/**
 * A bus within this process. A change reaches every listener of this object before `publish` returns; one that a
 * listener publishes comes after all earlier ones. No change is lost, and `publish` never rejects.
 */
export function memoryBus(options: MemoryBusOptions = {}): ChangeBus {
  const log = new PartLog(options.log, '@x/core')
  const listeners = new ListenerRegistry((error) => log.write(errorRecord(error, { name: 'change bus' })))
  return {
    publish(change) {
      listeners.notifyChange(change)
      return Promise.resolve()
    },
    listen: (listener) => Promise.resolve(listeners.add(listener)),
    ping: () => Promise.resolve(),
    useLog: log.use,
  }
}

/** When a listener throws, the error goes to `onError` and the other listeners are still called. */
export class ListenerRegistry {
  readonly #onError: (error: unknown) => void
  // Each addition has an entry of its own, because the same listener may be added twice and removed once. The list is
  // replaced and never altered, so that a notification goes to those who listened when it began.
  #entries: readonly { readonly listener: ChangeListener; isStopped: boolean }[] = []
  readonly #pendingNotifications: ((listener: ChangeListener) => void)[] = []
  #isNotifying = false

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  get count(): number {
    return this.#entries.length
  }

  add(listener: ChangeListener): () => void {
    const entry = { listener, isStopped: false }
    this.#entries = [...this.#entries, entry]
    return () => {
      entry.isStopped = true
      this.#entries = this.#entries.filter((otherEntry) => otherEntry !== entry)
    }
  }

  notifyChange(change: Change): void {
    this.#notify((listener) => listener.onChange(change))
  }

  notifyGap(): void {
    this.#notify((listener) => listener.onGap())
  }

  #notify(notify: (listener: ChangeListener) => void): void {
    this.#pendingNotifications.push(notify)
    // A listener may publish while the loop below calls it. Its change waits for the loop, because a nested one would
    // deepen the stack.
    if (this.#isNotifying) return
    this.#isNotifying = true
    try {
      for (let next = this.#pendingNotifications.shift(); next; next = this.#pendingNotifications.shift())
        this.#notifyEach(next)
    } finally {
      this.#isNotifying = false
    }
  }

  #notifyEach(notify: (listener: ChangeListener) => void): void {
    for (const { listener, isStopped } of this.#entries) if (!isStopped) callListener(notify, listener, this.#onError)
  }
}
