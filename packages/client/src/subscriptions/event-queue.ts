import type { SubscriptionEvent } from './subscription.ts'

/** What waits for a reader. */
export interface EventQueue {
  /** Queues an event, unless it is there already. `instead` is queued in its place when too much waits. */
  put(event: SubscriptionEvent, instead?: SubscriptionEvent): void
  /** Nothing more comes: the reader is given what waits, and then the end, or an error. */
  end(failure?: { readonly error: unknown }): void
  /** The same at once: what waits is dropped. */
  drop(failure?: { readonly error: unknown }): void
  next(): Promise<IteratorResult<SubscriptionEvent, undefined>>
}

type Result = IteratorResult<SubscriptionEvent, undefined>

interface Reader {
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

const over: Result = { done: true, value: undefined }

/** Makes a queue that stays as small as what is listened to, `limit` and one event for each resource, however slowly it is read. */
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
    else if (reader) reader.resolve(over)
    if (!reader) failure = why
    for (const later of readers.splice(0)) later.resolve(over)
  }
  return {
    put: (event, instead) => {
      if (isOver) return
      const reader = readers.shift()
      if (reader) return reader.resolve({ done: false, value: event })
      // What was missed while a stream was away may be everything, and so covers whatever waits.
      if (event.type === 'opened' && event.missed) waiting.clear()
      const added = instead && waiting.size >= limit ? instead : event
      const key = keyOf(added)
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
      if (isOver) return Promise.resolve(over)
      return new Promise((resolve, reject) => readers.push({ resolve, reject }))
    },
  }
}

function keyOf(event: SubscriptionEvent): string {
  return event.type === 'resourceUpdated' ? `${event.type} ${event.uri}` : event.type
}
