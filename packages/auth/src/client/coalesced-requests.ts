import { AuthError } from './auth-error.ts'

/** One piece of work that several callers wait for. */
interface SharedRequest<T> {
  readonly scopes: readonly string[]
  readonly outcome: Promise<T>
  readonly waiterSignals: Set<AbortSignal>
  readonly controller: AbortController
}

/** Parameters of a caller that needs a flight. */
export interface JoinOptions {
  /** The scopes that the work has to bring. */
  readonly scopes: readonly string[]
  /** Aborts when this caller needs it no longer; the work ends with the last of them. */
  readonly signal: AbortSignal
}

/** Runs one piece of work per key at a time. */
export interface SharedRequests<T> {
  /** Joins the work under way when it brings the scopes; otherwise runs `run` when that is over. */
  join(key: string, options: JoinOptions, run: (signal: AbortSignal) => Promise<T>): Promise<T>
}

// A person reads, types a password, and looks for a phone.
const requestTimeoutMs = 300_000

export function createSharedRequests<T>(): SharedRequests<T> {
  const requests = new Map<string, SharedRequest<T>>()

  const startRequest = (
    key: string,
    scopes: readonly string[],
    run: (signal: AbortSignal) => Promise<T>,
  ): SharedRequest<T> => {
    const controller = new AbortController()
    const abortLogin = (reason: string): void =>
      controller.abort(new AuthError('login_ended', `The login ended: ${reason}`))
    const timer = setTimeout(abortLogin, requestTimeoutMs, 'it took longer than five minutes')
    const outcome = run(controller.signal).finally(() => {
      clearTimeout(timer)
      requests.delete(key)
    })
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
    join: async (key, { scopes, signal }, run) => {
      for (;;) {
        signal.throwIfAborted()
        const sharedRequest = requests.get(key)
        if (sharedRequest === undefined) return awaitOutcome(startRequest(key, scopes, run), signal)
        if (scopes.every((scope) => sharedRequest.scopes.includes(scope))) return awaitOutcome(sharedRequest, signal)
        // The other caller hears the outcome of its own work.
        await awaitOutcome(sharedRequest, signal).catch(() => undefined)
      }
    },
  }
}
