/** Things that are waited for by name, before or after they happen. */
export interface Arrivals {
  arrive(name: string): void
  /** Resolves when it has happened, and rejects when nothing happens any more. */
  of(name: string): Promise<void>
  /** Whoever waits, or will, is told that nothing happens any more. */
  fail(error: unknown): void
}

/** Makes {@link Arrivals} of nothing yet. */
export function createArrivals(): Arrivals {
  const places = new Map<string, PromiseWithResolve>()
  const failed = settleable()
  failed.promise.catch(() => {})
  const place = (name: string): PromiseWithResolve => {
    const known = places.get(name) ?? settleable()
    places.set(name, known)
    return known
  }
  return {
    arrive: (name) => place(name).resolve(),
    of: (name) => Promise.race([place(name).promise, failed.promise]),
    fail: (error) => failed.reject(error),
  }
}

interface PromiseWithResolve {
  readonly promise: Promise<void>
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

function settleable(): PromiseWithResolve {
  let resolve = (): void => {}
  let reject = (_error: unknown): void => {}
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  return { promise, resolve, reject }
}
