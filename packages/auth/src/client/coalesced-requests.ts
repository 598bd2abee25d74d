import { captureAsyncContext, raceWithCancellation } from '@x/core'
import { AuthError } from './auth-error.ts'

interface SharedRequest<T> {
  readonly scopes: readonly string[]
  readonly outcome: Promise<T>
  readonly waiterSignals: Set<AbortSignal>
  readonly controller: AbortController
  /** Set when `end` was called. */
  endError?: AuthError
}

// The time limit of one login in milliseconds: enough for a person to read, type a password and confirm on a phone.
// limit: login | ms | a login of a program that waits for its user | the call is rejected
const requestTimeoutMs = 300_000

/** One request at a time for each key. */
export class SharedRequests<T> {
  // Bounded by the token requests of the client that run.
  readonly #requests = new Map<string, SharedRequest<T>>()
  // Several callers share one request, so it must not run in the async context of one of them.
  readonly #runInOrigin = captureAsyncContext()

  /**
   * Waits for the running request if it asks for all these scopes. Otherwise waits for its end, and calls `run`. When
   * the last caller stops waiting, because its `signal` aborts, the request is aborted.
   */
  async join(
    key: string,
    { scopes, signal }: { readonly scopes: readonly string[]; readonly signal: AbortSignal },
    run: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    for (;;) {
      signal.throwIfAborted()
      const sharedRequest = this.#requests.get(key)
      if (sharedRequest === undefined)
        return awaitOutcome(
          this.#runInOrigin(() => this.#start(key, scopes, run)),
          signal,
        )
      if (scopes.every((scope) => sharedRequest.scopes.includes(scope))) return awaitOutcome(sharedRequest, signal)
      // It has other scopes, so its outcome does not matter here. But a user who has logged out is not asked again.
      await awaitOutcome(sharedRequest, signal).catch(() => undefined)
      if (sharedRequest.endError !== undefined) throw sharedRequest.endError
    }
  }

  /**
   * Aborts the running request. Its callers, and those that wait for its end, reject with `login_ended`. The next caller
   * begins a new one.
   */
  end(key: string, reason: string): void {
    const sharedRequest = this.#requests.get(key)
    if (sharedRequest === undefined) return
    sharedRequest.endError = createEndError(reason)
    sharedRequest.controller.abort(sharedRequest.endError)
    this.#requests.delete(key)
  }

  #start(key: string, scopes: readonly string[], run: (signal: AbortSignal) => Promise<T>): SharedRequest<T> {
    const controller = new AbortController()
    const abortLogin = (): void => controller.abort(createEndError('it took longer than five minutes'))
    // oxlint-disable-next-line no-restricted-globals -- the calls that share a request may have different clocks
    const timer = setTimeout(abortLogin, requestTimeoutMs)
    // A browser may never return, and an aborted request must not keep the next one waiting.
    const outcome = raceWithCancellation(run(controller.signal), controller).finally(() => {
      clearTimeout(timer)
      if (this.#requests.get(key) === sharedRequest) this.#requests.delete(key)
    })
    // Bounded by the calls of the client that wait for this token request.
    const sharedRequest: SharedRequest<T> = { scopes, outcome, waiterSignals: new Set(), controller }
    this.#requests.set(key, sharedRequest)
    return sharedRequest
  }
}

async function awaitOutcome<T>(
  { waiterSignals, controller, outcome }: SharedRequest<T>,
  signal: AbortSignal,
): Promise<T> {
  const stopWaiting = (): void => {
    waiterSignals.delete(signal)
    if (waiterSignals.size === 0) controller.abort(createEndError('the connection was closed'))
  }
  if (!waiterSignals.has(signal)) {
    waiterSignals.add(signal)
    signal.addEventListener('abort', stopWaiting, { once: true })
  }
  try {
    return await outcome
  } finally {
    signal.removeEventListener('abort', stopWaiting)
  }
}

function createEndError(reason: string): AuthError {
  return new AuthError('login_ended', `The login ended: ${reason}`)
}
