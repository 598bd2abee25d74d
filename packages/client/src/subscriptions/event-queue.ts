import type { SubscriptionEvent } from '../caching/changes.ts'

/** Events that wait for a reader. */
export interface EventQueue {
  /** Queues an event, unless an equal one waits already. If too many wait, `overflowEvent` takes its place. */
  put(event: SubscriptionEvent, overflowEvent?: SubscriptionEvent): void
  /** Ends the queue: the reader gets what is queued, and then the end or the error. */
  end(failure?: { readonly error: unknown }): void
  /** Ends the queue at once; what is queued is lost. */
  drop(failure?: { readonly error: unknown }): void
  next(): Promise<IteratorResult<SubscriptionEvent, undefined>>
}

type ReadResult = IteratorResult<SubscriptionEvent, undefined>

const endResult: ReadResult = { done: true, value: undefined }

/**
 * Creates a queue of bounded size, for a reader of any speed: at most one event for each list and each resource, and
 * `maxEvents` for parts of resources.
 */
export function createEventQueue(maxEvents: number): EventQueue {
  const queuedEvents = new Map<string, SubscriptionEvent>()
  const readers: { readonly resolve: (result: ReadResult) => void; readonly reject: (error: unknown) => void }[] = []
  let failure: { readonly error: unknown } | undefined
  let isEnded = false

  const end = (endFailure: { readonly error: unknown } | undefined): void => {
    if (isEnded) return
    isEnded = true
    const reader = readers.shift()
    if (endFailure && reader) reader.reject(endFailure.error)
    else if (reader) reader.resolve(endResult)
    if (!reader) failure = endFailure
    for (const laterReader of readers.splice(0)) laterReader.resolve(endResult)
  }
  return {
    put: (event, overflowEvent) => {
      if (isEnded) return
      const reader = readers.shift()
      if (reader) return reader.resolve({ done: false, value: event })
      // With no stream open, any change may have been missed, so this event replaces all that is queued.
      if (event.type === 'opened' && event.mayHaveMissedChanges) queuedEvents.clear()
      const newEvent = overflowEvent && queuedEvents.size >= maxEvents ? overflowEvent : event
      const key = eventKeyOf(newEvent)
      if (newEvent.type === 'interrupted') queuedEvents.delete(key)
      if (!queuedEvents.has(key)) queuedEvents.set(key, newEvent)
    },
    end,
    drop: (endFailure) => {
      queuedEvents.clear()
      if (isEnded) failure = undefined
      end(endFailure)
    },
    next: () => {
      for (const [key, value] of queuedEvents) {
        queuedEvents.delete(key)
        return Promise.resolve({ done: false, value })
      }
      if (failure) {
        const { error } = failure
        failure = undefined
        return Promise.reject(error)
      }
      if (isEnded) return Promise.resolve(endResult)
      return new Promise((resolve, reject) => readers.push({ resolve, reject }))
    },
  }
}

function eventKeyOf(event: SubscriptionEvent): string {
  return event.type === 'resourceUpdated' ? `${event.type} ${event.uri}` : event.type
}
