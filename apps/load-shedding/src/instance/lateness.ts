const everyMs = 100

/**
 * Measures ten times a second by how many milliseconds a timer is late, smoothed, and hands each reading on. It keeps
 * no process alive.
 */
export function watchLateness(tell: (lateMs: number) => void): void {
  let lateMs = 0
  let due = performance.now() + everyMs
  setInterval(() => {
    const now = performance.now()
    lateMs = (lateMs + Math.max(0, now - due)) / 2
    // An interval that was held up counts from when it ran.
    due = now + everyMs
    tell(lateMs)
  }, everyMs).unref()
}
