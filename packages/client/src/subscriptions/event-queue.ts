import type { SubscriptionEvent } from './subscription.ts'

/** The events that wait for a reader. */
export interface EventQueue {
  /** Queues an event, unless an equal one waits already. `instead` is queued in its place when too many wait. */
  put(event: SubscriptionEvent, instead?: SubscriptionEvent): void
  /** Ends the queue: the reader receives the waiting events, and then the end, or an error. */
  end(failure?: { readonly error: unknown }): void
  /** Ends the queue at once and drops the waiting events. */
  drop(failure?: { readonly error: unknown }): void
  next(): Promise<IteratorResult<SubscriptionEvent, undefined>>
}

type Result = IteratorResult<SubscriptionEvent, undefined>

interface Reader {
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

const finished: Result = { done: true, value: undefined }

/**
 * Creates a queue that stays as small as the filter, `limit` and one event for each resource, however slow the reader
 * is.
 */
export function createEventQueue(limit: number): EventQueue {
  const waiting = new Map<string, SubscriptionEvent>()
  const readers: Reader[] = []
  let failure: { readonly error: unknown } | undefined
  let isOver = false

  const end = (why: { readonly error: unknown } | undefined): void => {
    if (isOver) return
    isOver = true
    const reader = readers.shift()
    if (why && reader) reader.reject(why.error)
    else if (reader) reader.resolve(finished)
    if (!reader) failure = why
    for (const later of readers.splice(0)) later.resolve(finished)
  }
  return {
    put: (event, instead) => {
      if (isOver) return
      const reader = readers.shift()
      if (reader) return reader.resolve({ done: false, value: event })
      // Any change may have been missed while a stream was away, so this event covers all that wait.
      if (event.type === 'opened' && event.missed) waiting.clear()
      const added = instead && waiting.size >= limit ? instead : event
      const key = eventKey(added)
      if (added.type === 'interrupted') waiting.delete(key)
      if (!waiting.has(key)) waiting.set(key, added)
    },
    end,
    drop: (why) => {
      waiting.clear()
      if (isOver) failure = undefined
      end(why)
    },
    next: () => {
      for (const [key, value] of waiting) {
        waiting.delete(key)
        return Promise.resolve({ done: false, value })
      }
      if (failure) {
        const { error } = failure
        failure = undefined
        return Promise.reject(error)
      }
      if (isOver) return Promise.resolve(finished)
      return new Promise((resolve, reject) => readers.push({ resolve, reject }))
    },
  }
}

function eventKey(event: SubscriptionEvent): string {
  return event.type === 'resourceUpdated' ? `${event.type} ${event.uri}` : event.type
}
