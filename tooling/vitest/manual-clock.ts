/** The time of a runtime in the test's hand: time of day and monotonic time are the same here. */
export interface ManualClock {
  now(): number
  monotonicNow(): number
  setTimeout(callback: () => void, ms: number): unknown
  clearTimeout(timer: unknown): void
  /** Moves time on and fires what is due, in order. */
  advance(ms: number): void
  /** Returns the number of pending timers. */
  readonly waiting: number
}

/** Makes a {@link ManualClock} that stands at 0. */
export function manualClock(): ManualClock {
  const timers = new Map<number, { readonly at: number; readonly callback: () => void }>()
  let time = 0
  let last = 0
  return {
    now: () => time,
    monotonicNow: () => time,
    setTimeout: (callback, ms) => {
      last += 1
      timers.set(last, { at: time + ms, callback })
      return last
    },
    clearTimeout: (timer) => void (typeof timer === 'number' && timers.delete(timer)),
    advance: (ms) => {
      const end = time + ms
      for (;;) {
        const [due] = [...timers].filter(([, timer]) => timer.at <= end).sort(([, a], [, b]) => a.at - b.at)
        if (!due) break
        timers.delete(due[0])
        time = due[1].at
        due[1].callback()
      }
      time = end
    },
    get waiting() {
      return timers.size
    },
  }
}
