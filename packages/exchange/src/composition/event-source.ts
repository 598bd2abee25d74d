import { callListener, errorRecord, type Log } from '@x/core'
import type { ServerEvent } from '../server/server-event.ts'

/** Receives the events of a server. */
export type Observer = (event: ServerEvent) => void

/** Where a server's events come from, with its log. */
export interface EventSource {
  /** Passes an event to all observers. Undefined without one, so that `emit?.({ … })` then creates no event. */
  readonly emit: Observer | undefined
  /** Writes a record, and emits errors and warnings as events. */
  readonly log: Log
  /** Sets the observers, once, after the extensions have started. */
  observe(observers: readonly Observer[]): void
}

/** Has no observers at first. `writeRecord` must not throw. */
export function createEventSource(writeRecord: Log): EventSource {
  // Causes no event, because the same observer could fail again.
  const reportObserver = (error: unknown): void => writeRecord(errorRecord(error, { method: 'extension' }))
  const emitToAll = (observers: readonly Observer[], event: ServerEvent): void => {
    for (const observer of observers) callListener(observer, event, reportObserver)
  }
  // `emit` is a plain member, because every request reads it.
  const source: EventSource & { emit: Observer | undefined } = {
    emit: undefined,
    log: (record) => {
      writeRecord(record)
      const { emit } = source
      if (emit === undefined) return
      const { level, message: _message, code: _code, err: error, ...where } = record
      if (level === 'error') emit({ type: 'error', error, where })
      if (level === 'warn') emit({ type: 'warning', warning: record })
    },
    observe: (observers) => {
      if (observers.length > 0) source.emit = (event) => emitToAll(observers, event)
    },
  }
  return source
}
