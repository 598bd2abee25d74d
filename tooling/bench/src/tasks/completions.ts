/** Completions by name. A caller can wait for one before or after it occurs. */
export interface Completions {
  complete(name: string): void
  /** Resolves when the name is complete, and rejects after a call of `fail`. */
  wait(name: string): Promise<void>
  /** Rejects all pending and later waits. */
  fail(error: unknown): void
}

/** Creates an empty {@link Completions}. */
export function createCompletions(): Completions {
  const deferreds = new Map<string, Deferred>()
  const failure = createDeferred()
  failure.promise.catch(() => {})
  const deferredOf = (name: string): Deferred => {
    const deferred = deferreds.get(name) ?? createDeferred()
    deferreds.set(name, deferred)
    return deferred
  }
  return {
    complete: (name) => deferredOf(name).resolve(),
    wait: (name) => Promise.race([deferredOf(name).promise, failure.promise]),
    fail: (error) => failure.reject(error),
  }
}

interface Deferred {
  readonly promise: Promise<void>
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

function createDeferred(): Deferred {
  let resolve = (): void => {}
  let reject = (_error: unknown): void => {}
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  return { promise, resolve, reject }
}
