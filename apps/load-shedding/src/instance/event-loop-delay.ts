const intervalMs = 100

/**
 * Measures ten times a second by how many milliseconds a timer is late, smoothed, and hands each reading on. It keeps
 * no process alive.
 */
export function watchEventLoopDelay(report: (delayMs: number) => void): void {
  let delayMs = 0
  let dueAt = performance.now() + intervalMs
  setInterval(() => {
    const now = performance.now()
    delayMs = (delayMs + Math.max(0, now - dueAt)) / 2
    // An interval that was held up counts from when it ran.
    dueAt = now + intervalMs
    report(delayMs)
  }, intervalMs).unref()
}
