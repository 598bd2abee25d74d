const intervalMs = 100

/**
 * Measures the event-loop delay ten times a second: by how many milliseconds a timer fires late, smoothed. Calls
 * `report` with each value. The timer does not keep the process alive.
 */
export function watchEventLoopDelay(report: (delayMs: number) => void): void {
  let delayMs = 0
  let dueAt = performance.now() + intervalMs
  setInterval(() => {
    const now = performance.now()
    delayMs = (delayMs + Math.max(0, now - dueAt)) / 2
    // After a late callback, Node schedules the next one from the time of that callback.
    dueAt = now + intervalMs
    report(delayMs)
  }, intervalMs).unref()
}
