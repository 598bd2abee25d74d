import type { DevEvent, StampedEvent } from './events.ts'

const maxEvents = 5000
const maxCharacters = 64 * 1024 * 1024

/**
 * Keeps the last events of the command. Of an event that replaces an earlier one, such as a new state of the server,
 * only the latest is kept. So a page that connects late gets the whole state, and the messages that fit the bounds.
 */
export class EventLog {
  readonly #events = new Map<string, { readonly event: StampedEvent; readonly length: number }>()
  readonly #listeners = new Set<(event: StampedEvent) => void>()
  #seq = 0
  #length = 0

  append(event: DevEvent): void {
    this.#seq += 1
    const stamped: StampedEvent = { ...event, seq: this.#seq, at: Date.now() }
    const key = stateKeyOf(event) ?? String(this.#seq)
    this.#remove(key)
    if (event.type !== 'question' || event.isOpen) {
      const { length } = JSON.stringify(stamped)
      this.#events.set(key, { event: stamped, length })
      this.#length += length
      this.#evict()
    }
    for (const listener of this.#listeners) listener(stamped)
  }

  /** In the order of their numbers. */
  get events(): readonly StampedEvent[] {
    return Array.from(this.#events.values(), ({ event }) => event)
  }

  /** Calls `listener` with each new event. The returned function removes it. */
  subscribe(listener: (event: StampedEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #remove(key: string): void {
    const entry = this.#events.get(key)
    if (entry === undefined) return
    this.#events.delete(key)
    this.#length -= entry.length
  }

  #evict(): void {
    for (const [key, { event }] of this.#events) {
      if (this.#events.size <= maxEvents && this.#length <= maxCharacters) return
      if (!isPageState(event)) this.#remove(key)
    }
  }
}

/** A page cannot do without the states, and there are few of them. */
function isPageState({ type }: DevEvent): boolean {
  return type !== 'call' && type !== 'task' && type !== 'message' && type !== 'client' && type !== 'output'
}

function stateKeyOf(event: DevEvent): string | undefined {
  switch (event.type) {
    case 'server':
    case 'lists':
    case 'login':
    case 'doctor':
    case 'fault':
    case 'setup':
      return event.type
    case 'task':
      return `task ${event.task.id}`
    case 'call':
      return `call ${event.call.id}`
    case 'question':
      return `question ${event.question.id}`
    default:
      return undefined
  }
}
