import { platformRuntime, startBackgroundTimer } from '@x/core'
import type { AuthError } from './auth-error.ts'

/** Milliseconds after which the wait for a lock is taken for the login of another process. */
const waitNoticeMs = 1000

type LoginListener = (pendingLogin: AuthError | undefined) => void

/** The logins that calls wait for, by the URL of their endpoint, with those who watch an endpoint. */
export class OpenLogins {
  readonly #logins = new Map<string, AuthError>()
  readonly #listeners = new Map<string, Set<LoginListener>>()

  get(href: string): AuthError | undefined {
    return this.#logins.get(href)
  }

  /** Records a page that is open, until the returned function is called. */
  open(href: string, login: AuthError): () => void {
    this.#logins.set(href, login)
    this.#notify(href)
    return () => {
      if (this.#logins.delete(href)) this.#notify(href)
    }
  }

  /**
   * Records that a call waits for the lock of a token. Most waits are short, so that listeners learn of long ones only.
   */
  wait(href: string, wait: AuthError): () => void {
    if (!this.#logins.has(href)) this.#logins.set(href, wait)
    const timer = startBackgroundTimer(platformRuntime, () => this.#notify(href), waitNoticeMs)
    return () => {
      platformRuntime.clearTimeout(timer)
      if (this.#logins.get(href) === wait) this.#logins.delete(href)
    }
  }

  /** Calls a function with the login at an endpoint, now and after each change. Returns a function that removes it. */
  watch(href: string, listener: LoginListener): () => void {
    const listeners = this.#listeners.get(href) ?? new Set()
    this.#listeners.set(href, listeners.add(listener))
    const login = this.#logins.get(href)
    if (login !== undefined) listener(login)
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) this.#listeners.delete(href)
    }
  }

  #notify(href: string): void {
    for (const listener of this.#listeners.get(href) ?? []) listener(this.#logins.get(href))
  }
}
