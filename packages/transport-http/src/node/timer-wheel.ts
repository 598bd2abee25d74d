import type { IndexedEntry } from '../indexed-list.ts'
import type { Schedule } from '../server/settings.ts'

/** Somebody who may wait; whoever does so stands in the roster. */
export interface Waiting extends IndexedEntry {
  /** At which tick the wait is over; 0 for who waits for nothing. */
  dueTick: number
}

/**
 * A function that lets somebody of the roster wait, and calls `due` at the end. It is for many long waits of which hardly any comes
 * to its end: one timer serves all of them, nothing is kept for each, and who leaves the roster waits no more. A wait may end up to
 * two times `everyMs` late.
 */
export function createTimerWheel<T extends Waiting>(
  entries: readonly T[],
  schedule: Schedule,
  due: (waiting: T) => void,
): (waiting: T, ms: number) => void {
  let ticks = 0
  let ticking = false
  const tick = () => {
    ticks += 1
    // What is done for one may add others and take them out, so those that are due are picked first.
    for (const waiting of entries.filter(({ dueTick }) => dueTick !== 0 && dueTick <= ticks)) {
      if (entries[waiting.index] !== waiting) continue
      waiting.dueTick = 0
      due(waiting)
    }
    ticking = entries.length > 0
    if (ticking) schedule(tick, everyMs)
  }
  return (waiting, ms) => {
    if (!ticking) schedule(tick, everyMs)
    ticking = true
    // The tick under way has begun already, so one more is waited for.
    waiting.dueTick = ticks + Math.ceil(ms / everyMs) + 1
  }
}

const everyMs = 1_000
