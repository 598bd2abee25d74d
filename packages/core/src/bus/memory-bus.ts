import type { ErrorListener } from '../error-listener.ts'
import type { ChangeBus } from './change-bus.ts'
import { createListenerRegistry, createErrorReporter } from './listeners.ts'

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
