/**
 * The rejection of a `ctx` function whose answer is not there yet: the handler ends, and runs again from the top once
 * the client has answered. It is not a failure; let it pass, so that `finally` and `using` run.
 */
class Suspension extends Error {
  override readonly name = 'Suspension'
}

/** A suspension, which says what the call waits for. */
export function suspensionFor(keys: readonly string[]): Error {
  if (keys.length === 0) return withoutStack('The handler runs again from the top; let this error pass')
  return withoutStack(`The call waits for ${keys.map((key) => JSON.stringify(key)).join(', ')}; let this error pass`)
}

/**
 * It comes from the event loop: its stack would lead nowhere, and cost as much as the rest of a round's bookkeeping.
 */
function withoutStack(message: string): Suspension {
  const { stackTraceLimit } = Error
  // With frozen intrinsics this has no effect.
  Reflect.set(Error, 'stackTraceLimit', 0)
  const suspension = new Suspension(message)
  Reflect.set(Error, 'stackTraceLimit', stackTraceLimit)
  return suspension
}

/**
 * Returns true for an error that only ends this run of a handler, because a question was asked. Throw it again: work
 * that makes up for a failure must not be done while a user is still thinking.
 */
export function isSuspension(error: unknown): boolean {
  for (let depth = 0, cause: unknown = error; depth < 8 && cause instanceof Error; depth++, cause = cause.cause) {
    if (cause instanceof Suspension) return true
  }
  return false
}
