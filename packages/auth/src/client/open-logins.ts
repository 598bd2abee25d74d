import { platformRuntime, startBackgroundTimer } from '@x/core'
import { AuthError } from './auth-error.ts'

/** A lock that takes longer to get is taken for a login in another process. */
const waitNoticeMs = 1000

type LoginListener = (pendingLogin: AuthError | undefined) => void

/** Logins that calls wait for, by the URL of their endpoint, and who watches an endpoint. */
export class OpenLogins {
  // Bounded by `maxPendingLogins` for each endpoint.
  readonly #logins = new Map<string, AuthError>()
  // Bounded by the endpoints of the program's connections.
  readonly #listeners = new Map<string, Set<LoginListener>>()
  readonly #showWait: ((message: string) => void) | undefined

  /** `showWait` gets the message of a long wait for a login that is not open in this process. */
  constructor(showWait?: (message: string) => void) {
    this.#showWait = showWait
  }

  get(href: string): AuthError | undefined {
    return this.#logins.get(href)
  }

  /** A page is open, until the returned function is called. */
  open(href: string, login: AuthError): () => void {
    this.#logins.set(href, login)
    this.#notify(href)
    return () => {
      if (this.#logins.delete(href)) this.#notify(href)
    }
  }

  /** A call waits for the lock of a token. Most waits are short, so listeners get only long ones. */
  wait(href: string, wait: AuthError): () => void {
    if (!this.#logins.has(href)) this.#logins.set(href, wait)
    const notifyOfWait = (): void => {
      this.#notify(href)
      if (this.#logins.get(href) === wait) this.#showWait?.(wait.message)
    }
    const timer = startBackgroundTimer(platformRuntime, notifyOfWait, waitNoticeMs)
    return () => {
      platformRuntime.clearTimeout(timer)
      if (this.#logins.get(href) === wait) this.#logins.delete(href)
    }
  }

  /** Calls a function with the login at an endpoint, now and after each change. The returned function removes it. */
  watch(href: string, listener: LoginListener): () => void {
    // Bounded by the connections of the program to one endpoint.
    const listeners = this.#listeners.get(href) ?? new Set()
    this.#listeners.set(href, listeners.add(listener))
    const login = this.#logins.get(href)
    if (login !== undefined) listener(login)
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) this.#listeners.delete(href)
    }
  }

  /** Calls need a login again, because the user has logged out. */
  reportLogout(href: string): void {
    const reason = new AuthError('login_ended', 'The user has logged out')
    for (const listener of this.#listeners.get(href) ?? []) listener(reason)
  }

  #notify(href: string): void {
    for (const listener of this.#listeners.get(href) ?? []) listener(this.#logins.get(href))
  }
}
