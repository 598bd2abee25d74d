import { callListener, createLog, errorRecord } from '@x/core'

/** Status of a {@link ConnectionState}. */
export type ConnectionStatus =
  /** No server has answered yet. Nothing is sent before the first request. */
  | 'connecting'
  /** Requests wait for the login of a user, or fail without one. */
  | 'login_needed'
  /** The server answers. */
  | 'open'
  /** The server has answered, and cannot be reached now: its process ended, or its address does not answer. */
  | 'restarting'
  /** The connection was closed here, or its process is not started again. No request succeeds any more. */
  | 'closed'

/** State of a connection, the same over every transport and for servers of every revision. */
export interface ConnectionState {
  readonly status: ConnectionStatus
  /** Where the user logs in, if a page is open or has to be opened. */
  readonly loginUrl: string | undefined
  /** Why the connection is not open. Undefined for an open one, and before the first failure. */
  readonly reason: Error | undefined
}

/** A state that a program can read and watch. */
export interface ObservableState {
  /** Current state. */
  readonly state: ConnectionState
  /** Calls `listener` after each change of the state. The returned function removes it. */
  onStateChange(listener: (state: ConnectionState) => void): () => void
}

/** Owns a {@link ConnectionState}: transports report to it what happened to their requests. */
export class ConnectionStateSource implements ObservableState {
  // Bounded by the program's views of the connection, and streams of changes (`streams`).
  readonly #listeners = new Set<(state: ConnectionState) => void>()
  #state: ConnectionState = { status: 'connecting', loginUrl: undefined, reason: undefined }
  #wasOpen = false
  #isClosed = false

  get state(): ConnectionState {
    return this.#state
  }

  readonly onStateChange: ObservableState['onStateChange'] = (listener) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The server has answered. A login for more scopes stays open while calls that need none are answered. */
  open(): void {
    // Called for every response, so it must cost nothing while the state stays.
    if (this.#state.status === 'open') return
    if (isOpenLogin(this.#state)) this.#wasOpen = true
    else this.set({ status: 'open', loginUrl: undefined, reason: undefined })
  }

  /** The server cannot be reached. */
  lose(reason: Error): void {
    this.set({ status: this.#wasOpen ? 'restarting' : 'connecting', loginUrl: undefined, reason })
  }

  /** Requests wait for a login, or fail without one. A URL in the member `url` of the error is its page. */
  needLogin(reason: Error & { readonly url?: unknown }): void {
    const loginUrl = reason.url instanceof URL ? reason.url.href : undefined
    this.set({ status: 'login_needed', loginUrl, reason })
  }

  /** Requests wait for no login any more. */
  endLogin(): void {
    if (this.#state.status !== 'login_needed') return
    this.set({ status: this.#wasOpen ? 'open' : 'connecting', loginUrl: undefined, reason: undefined })
  }

  /** No request can succeed. */
  fail(reason: Error): void {
    this.set({ status: 'closed', loginUrl: undefined, reason })
  }

  /** The end: nothing changes the state afterwards. */
  close(reason: Error): void {
    this.fail(reason)
    this.#isClosed = true
    this.#listeners.clear()
  }

  /** Takes the state of another connection. One like the current one is no change. */
  set(state: ConnectionState): void {
    const { status, loginUrl, reason } = this.#state
    const isSame = state.status === status && state.loginUrl === loginUrl && state.reason?.message === reason?.message
    if (isSame || this.#isClosed) return
    this.#state = state
    if (state.status === 'open') this.#wasOpen = true
    for (const listener of this.#listeners) callListener(listener, state, reportListener)
  }
}

/** A login without this code is one that calls fail without, and that an answer proves to be done. */
function isOpenLogin({ status, reason }: ConnectionState): boolean {
  return status === 'login_needed' && Reflect.get(reason ?? {}, 'code') === 'login_pending'
}

function reportListener(error: unknown): void {
  createLog(undefined, '@x/exchange')(errorRecord(error, { method: 'onStateChange' }))
}
