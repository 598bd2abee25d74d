/**
 * Rejects a `ctx` function that cannot return in this run, usually because a question has no answer yet; the handler
 * runs again from its beginning when the client has answered. It is no failure, so a handler that catches it must throw
 * it again. `finally` and `using` run as usual.
 */
class Suspension extends Error {
  override readonly name = 'Suspension'
}

/**
 * Leaves out the stack: a suspension is created in a callback of the event loop, so its stack would not show the
 * handler, and would cost as much as all other bookkeeping of a round.
 */
export function createSuspension(message: string): Error {
  const stackTraceLimit: unknown = Reflect.get(Error, 'stackTraceLimit')
  // `Reflect.set` does not throw when intrinsics are frozen.
  Reflect.set(Error, 'stackTraceLimit', 0)
  const suspension = new Suspension(message)
  Reflect.set(Error, 'stackTraceLimit', stackTraceLimit)
  return suspension
}

/**
 * True for an error that only ends this run of a handler: because a question has no answer yet, or the call continues
 * at another instance. Throw it again, and do not undo earlier work because of it. False for what the functions of a
 * cancelled call reject with.
 */
export function isSuspension(error: unknown): boolean {
  for (let depth = 0, cause: unknown = error; depth < 8 && cause instanceof Error; depth++, cause = cause.cause) {
    if (cause instanceof Suspension) return true
  }
  return false
}
