/**
 * Calls of one connection that run at once. Each takes a socket, or a stream of one, and a process has some thousands
 * of them. Streams of changes, notifications and answers do not count, so that a call never waits for what waits for
 * it.
 */
export const maxConcurrentCalls = 1000

/**
 * Lets calls begin in the order of their arrival. The returned function begins a call at once, or when another has
 * ended. Call its result to end the call, even if it has not begun.
 */
export function createCallLimiter(): (start: () => void) => () => void {
  let runningCount = 0
  // Bounded by the calls of the program.
  const waiting = new Set<() => void>()
  return (start) => {
    let isRunning = false
    const run = (): void => {
      isRunning = true
      runningCount += 1
      start()
    }
    if (runningCount < maxConcurrentCalls) run()
    else waiting.add(run)
    return () => {
      if (waiting.delete(run) || !isRunning) return
      isRunning = false
      runningCount -= 1
      const [next] = waiting
      if (next === undefined) return
      waiting.delete(next)
      next()
    }
  }
}
