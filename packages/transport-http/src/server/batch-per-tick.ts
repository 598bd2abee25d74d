import { isWorkerd } from '@x/schema'

let waiting: (() => void)[] = []

// A request on workerd must not run in another's turn: its I/O belongs to its own context.
const scheduleBatch: ((run: () => void) => unknown) | undefined = isWorkerd() ? undefined : globalThis.setImmediate

/**
 * Runs a function, which must not throw, when the event loop has read what there was to read from every connection. The requests that came in one
 * turn are then served together: code and data stay in the processor's caches from one to the next, and a peer with many
 * requests under way is woken by many answers at once. Serving each as it came costs a quarter more.
 */
export function batchPerTick(run: () => void): void {
  if (scheduleBatch === undefined) run()
  else if (waiting.push(run) === 1) scheduleBatch(runWaiting)
}

function runWaiting(): void {
  const due = waiting
  waiting = []
  for (const run of due) run()
}
