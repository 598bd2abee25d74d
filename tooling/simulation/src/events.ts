/** Runs functions in the order of their times, on a virtual clock. */
export interface EventQueue {
  readonly size: number
  /** The time of the next function. Undefined if there is none. */
  readonly nextAt: number | undefined
  at(time: number, run: (time: number) => void): void
  /** Runs the next function, and returns its time. */
  step(): number
}

interface Entry {
  readonly time: number
  readonly order: number
  readonly run: (time: number) => void
}

/**
 * Creates a queue as a binary heap. Events of the same time run in the order of their addition, so that a seed has one
 * result.
 */
export function createEventQueue(): EventQueue {
  const entries: Entry[] = []
  let order = 0
  return {
    get size() {
      return entries.length
    },
    get nextAt() {
      return entries[0]?.time
    },
    at(time, run) {
      entries.push({ time, order: order++, run })
      siftUp(entries)
    },
    step() {
      const first = takeFirst(entries)
      first.run(first.time)
      return first.time
    },
  }
}

function isBefore(a: Entry | undefined, b: Entry | undefined): boolean {
  if (a === undefined || b === undefined) return false
  return a.time < b.time || (a.time === b.time && a.order < b.order)
}

function swap(entries: Entry[], a: number, b: number): void {
  const [first, second] = [entries[a], entries[b]]
  if (first === undefined || second === undefined) return
  entries[a] = second
  entries[b] = first
}

function siftUp(entries: Entry[]): void {
  for (let index = entries.length - 1; index > 0; ) {
    const parent = (index - 1) >> 1
    if (!isBefore(entries[index], entries[parent])) return
    swap(entries, index, parent)
    index = parent
  }
}

function takeFirst(entries: Entry[]): Entry {
  const [first] = entries
  const last = entries.pop()
  if (first === undefined || last === undefined) throw new RangeError('no event is left')
  if (entries.length === 0) return first
  entries[0] = last
  for (let index = 0; ; ) {
    const left = 2 * index + 1
    const child = isBefore(entries[left + 1], entries[left]) ? left + 1 : left
    if (!isBefore(entries[child], entries[index])) return first
    swap(entries, child, index)
    index = child
  }
}
