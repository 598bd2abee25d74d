const emitters = new WeakSet<object>()

/**
 * Adds an error listener to a pool or client that a program has given, once: without one, `pg` and `redis` end the
 * process when an idle connection breaks. The error itself is not needed, because a query or command that fails has its
 * own.
 */
export function ignoreErrorEvents(emitter: unknown): void {
  if (typeof emitter !== 'object' || emitter === null || emitters.has(emitter)) return
  emitters.add(emitter)
  const on: unknown = Reflect.get(emitter, 'on')
  if (typeof on === 'function') Reflect.apply(on, emitter, ['error', () => {}])
}
