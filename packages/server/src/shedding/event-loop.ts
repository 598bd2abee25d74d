// Taken when the module loads, so that a test's fake timers do not hold a handler up.
const { setTimeout } = globalThis
const immediate: unknown = Reflect.get(globalThis, 'setImmediate')

/** Runs a function after the event loop has turned once: what waits for it, such as another request, has had its turn. */
export function afterTick(run: () => void): void {
  // Timers of 0 wait for a millisecond or more; browsers know nothing else.
  if (typeof immediate === 'function') immediate(run)
  else setTimeout(run, 0)
}

/** Resolves after the event loop has turned once. */
export function nextTick(): Promise<void> {
  return new Promise(afterTick)
}
