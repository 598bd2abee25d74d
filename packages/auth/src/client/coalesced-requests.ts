import { captureAsyncContext, raceWithCancellation } from '@x/core'
import { AuthError } from './auth-error.ts'

interface SharedRequest<T> {
  readonly scopes: readonly string[]
  readonly outcome: Promise<T>
  readonly waiterSignals: Set<AbortSignal>
  readonly controller: AbortController
}

/** One request at a time for each key. */
export interface SharedRequests<T> {
  /**
   * Waits for the running request if it asks for all these scopes. Otherwise waits for its end, and calls `run`. When
   * the last caller stops waiting, because its `signal` aborts, the request is aborted.
   */
  join(
    key: string,
    options: { readonly scopes: readonly string[]; readonly signal: AbortSignal },
    run: (signal: AbortSignal) => Promise<T>,
  ): Promise<T>
  /** Aborts the running request, whose callers reject with `login_ended`. The next caller begins a new one. */
  end(key: string, reason: string): void
}

// The time limit of one login in milliseconds: enough for a person to read, type a password and confirm on a phone.
// limit: login | ms | a login of a program that waits for its user | the call is rejected
const requestTimeoutMs = 300_000

export function createSharedRequests<T>(): SharedRequests<T> {
  // Bounded by the token requests of the client that run.
  const requests = new Map<string, SharedRequest<T>>()
  // Several callers share one request, so it must not run in the async context of one of them.
  const runInOrigin = captureAsyncContext()

  const startRequest = (
    key: string,
    scopes: readonly string[],
    run: (signal: AbortSignal) => Promise<T>,
  ): SharedRequest<T> => {
    const controller = new AbortController()
    const abortLogin = (reason: string): void =>
      controller.abort(new AuthError('login_ended', `The login ended: ${reason}`))
    // oxlint-disable-next-line no-restricted-globals -- the calls that share a request may have different clocks
    const timer = setTimeout(abortLogin, requestTimeoutMs, 'it took longer than five minutes')
    // A browser may never return, and an aborted request must not keep the next one waiting.
    const outcome = raceWithCancellation(run(controller.signal), controller).finally(() => {
      clearTimeout(timer)
      if (requests.get(key) === sharedRequest) requests.delete(key)
    })
    // Bounded by the calls of the client that wait for this token request.
    const sharedRequest = { scopes, outcome, waiterSignals: new Set<AbortSignal>(), controller }
    requests.set(key, sharedRequest)
    return sharedRequest
  }
  const awaitOutcome = async (sharedRequest: SharedRequest<T>, signal: AbortSignal): Promise<T> => {
    const stopWaiting = (): void => {
      sharedRequest.waiterSignals.delete(signal)
      if (sharedRequest.waiterSignals.size > 0) return
      sharedRequest.controller.abort(new AuthError('login_ended', 'The login ended: the connection was closed'))
    }
    if (!sharedRequest.waiterSignals.has(signal)) {
      sharedRequest.waiterSignals.add(signal)
      signal.addEventListener('abort', stopWaiting, { once: true })
    }
    try {
      return await sharedRequest.outcome
    } finally {
      signal.removeEventListener('abort', stopWaiting)
    }
  }
  return {
    end: (key, reason) => {
      requests.get(key)?.controller.abort(new AuthError('login_ended', `The login ended: ${reason}`))
      requests.delete(key)
    },
    join: async (key, { scopes, signal }, run) => {
      for (;;) {
        signal.throwIfAborted()
        const sharedRequest = requests.get(key)
        if (sharedRequest === undefined)
          return awaitOutcome(
            runInOrigin(() => startRequest(key, scopes, run)),
            signal,
          )
        if (scopes.every((scope) => sharedRequest.scopes.includes(scope))) return awaitOutcome(sharedRequest, signal)
        // It has other scopes, so its outcome does not matter here.
        await awaitOutcome(sharedRequest, signal).catch(() => undefined)
      }
    },
  }
}
