/** The time of a runtime under the control of a test. Time of day and monotonic time are equal. */
export interface ManualClock {
  now(): number
  monotonicNow(): number
  setTimeout(callback: () => void, ms: number): unknown
  clearTimeout(timer: unknown): void
  /** Advances the time, and calls the callbacks of due timers in order. */
  advance(ms: number): void
  /** Returns the number of pending timers. */
  readonly waiting: number
}

/** Creates a {@link ManualClock} that starts at 0. */
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
