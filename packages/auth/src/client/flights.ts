import { AuthError } from './auth-error.ts'

/** One piece of work that several callers wait for. */
interface SharedRequest<T> {
  readonly scopes: readonly string[]
  readonly outcome: Promise<T>
  readonly waiting: Set<AbortSignal>
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
  const flights = new Map<string, SharedRequest<T>>()

  const start = (
    key: string,
    scopes: readonly string[],
    run: (signal: AbortSignal) => Promise<T>,
  ): SharedRequest<T> => {
    const controller = new AbortController()
    const ended = (why: string): void => controller.abort(new AuthError('login_ended', `The login ended: ${why}`))
    const timer = setTimeout(ended, requestTimeoutMs, 'it took longer than five minutes')
    const outcome = run(controller.signal).finally(() => {
      clearTimeout(timer)
      flights.delete(key)
    })
    const flight = { scopes, outcome, waiting: new Set<AbortSignal>(), controller }
    flights.set(key, flight)
    return flight
  }
  const wait = async (flight: SharedRequest<T>, signal: AbortSignal): Promise<T> => {
    const leave = (): void => {
      flight.waiting.delete(signal)
      if (flight.waiting.size > 0) return
      flight.controller.abort(new AuthError('login_ended', 'The login ended: the connection was closed'))
    }
    if (!flight.waiting.has(signal)) {
      flight.waiting.add(signal)
      signal.addEventListener('abort', leave, { once: true })
    }
    try {
      return await flight.outcome
    } finally {
      signal.removeEventListener('abort', leave)
    }
  }
  return {
    join: async (key, { scopes, signal }, run) => {
      for (;;) {
        signal.throwIfAborted()
        const flight = flights.get(key)
        if (flight === undefined) return wait(start(key, scopes, run), signal)
        if (scopes.every((scope) => flight.scopes.includes(scope))) return wait(flight, signal)
        // The other caller hears the outcome of its own work.
        await wait(flight, signal).catch(() => undefined)
      }
    },
  }
}
