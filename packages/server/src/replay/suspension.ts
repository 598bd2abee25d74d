/**
 * What a `ctx` function rejects with when its answer has still to come: the handler ends, and runs again from the top
 * once the client has answered. It is no failure; let it pass, so that `finally` and `using` do their work.
 */
class Suspension extends Error {
  override readonly name = 'Suspension'
}

/** A suspension, which says what the call waits for. */
export function suspensionFor(keys: readonly string[]): Error {
  if (keys.length === 0) return new Suspension('The handler runs again from the top; let this error pass')
  return new Suspension(`The call waits for ${keys.map((key) => JSON.stringify(key)).join(', ')}; let this error pass`)
}

/**
 * Whether a caught error only ends this run of a handler, because a question was asked. Throw it on: what a handler does to
 * make up for a failure must not be done while a user is still thinking.
 */
export function isSuspension(error: unknown): boolean {
  for (let depth = 0, cause: unknown = error; depth < 8 && cause instanceof Error; depth++, cause = cause.cause) {
    if (cause instanceof Suspension) return true
  }
  return false
}
