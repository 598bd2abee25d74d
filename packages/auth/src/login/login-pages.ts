import { errorRecord, isUnavailable, type Log } from '@x/core'
import { isStateError } from '@x/state-codec'
import { isAuthError } from '../client/auth-error.ts'
import type { LoginFlow, Visit } from './login-flow.ts'
import { type LoginPage, pages, toPageResponse } from './login-page.ts'
import { type BegunLogin, cookieNameOf, type LoginTickets, ticketTtlMs } from './login-tickets.ts'

export interface LoginPagesOptions {
  readonly flow: LoginFlow
  readonly tickets: LoginTickets
  /** Here a login begins. */
  readonly startUrl: URL
  /** Redirect URI of the gateway. */
  readonly callbackUrl: URL
  readonly log: Log
}

/**
 * Both addresses that a browser visits during a login. The link proves nothing about the person who opens it, because
 * it may have been forwarded. So the person first proves at the issuer of the gateway to be the user whose call needs
 * the login (client/elicitation, identifying the user).
 */
export class LoginPages {
  readonly #options: LoginPagesOptions

  constructor(options: LoginPagesOptions) {
    this.#options = options
  }

  /** Undefined for any path but those of the pages. */
  handle({ url: address, method, headers }: Request): Promise<Response> | undefined {
    const url = new URL(address)
    const { startUrl, callbackUrl } = this.#options
    const isStart = url.pathname === startUrl.pathname
    if (!isStart && url.pathname !== callbackUrl.pathname) return undefined
    if (method !== 'GET') return Promise.resolve(toPageResponse(pages.wrongMethod))
    return this.#run(() => (isStart ? this.#start(url) : this.#continue(url, headers.get('cookie') ?? ''))).then(
      toPageResponse,
    )
  }

  async #start(url: URL): Promise<LoginPage> {
    const needed = await this.#options.tickets.openLink(url)
    return needed === undefined ? pages.expired : this.#begin({ ...needed, stage: 'verify' })
  }

  async #continue(url: URL, cookieHeader: string): Promise<LoginPage> {
    const { flow, tickets } = this.#options
    const state = url.searchParams.get('state') ?? ''
    const name = await cookieNameOf(state, this.#isSecure)
    const login = await tickets.openCookie(findCookie(cookieHeader, name) ?? '', state)
    if (login === undefined) return pages.expired
    const answerUrl = new URL(url.search, this.#options.callbackUrl)
    if (login.stage === 'grant') {
      await flow.storeToken(login, answerUrl)
      return { ...pages.done, cookie: this.#createCookie(name, '', 0) }
    }
    if (await flow.isSameUser(login, answerUrl)) return this.#begin({ ...login, stage: 'grant' })
    const message = 'A login page was opened by someone other than the user whom it is for'
    this.#options.log({ level: 'warn', code: 'login_refused', principal: login.user.subject, message })
    return pages.otherUser
  }

  async #begin(login: BegunLogin): Promise<LoginPage> {
    const visit = await this.#options.flow.begin(login)
    return visit === undefined ? pages.done : this.#redirect(login, visit)
  }

  async #redirect(login: BegunLogin, { url, state }: Visit): Promise<LoginPage> {
    const name = await cookieNameOf(state, this.#isSecure)
    const value = await this.#options.tickets.sealCookie(login, state)
    return {
      status: 302,
      text: 'Continue.',
      location: url,
      cookie: this.#createCookie(name, value, ticketTtlMs / 1000),
    }
  }

  get #isSecure(): boolean {
    return this.#options.callbackUrl.protocol === 'https:'
  }

  /** `Lax`, because the response arrives by a redirect from the site of the authorization server. */
  #createCookie(name: string, value: string, maxAgeSeconds: number): string {
    const attributes = `Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${this.#isSecure ? '; Secure' : ''}`
    return `${name}=${value}; ${attributes}`
  }

  async #run(createPage: () => Promise<LoginPage>): Promise<LoginPage> {
    try {
      return await createPage()
    } catch (error) {
      this.#options.log(errorRecord(error, { method: 'login' }))
      return findErrorPage(error)
    }
  }
}

function findErrorPage(error: unknown): LoginPage {
  // A user with a full quota has begun many logins, which are forgotten after ten minutes.
  if (isUnavailable(error) || isStateError(error)) return pages.unavailable
  if (!isAuthError(error)) return pages.failed
  if (error.code === 'server_unavailable') return pages.unavailable
  if (error.code === 'authorization_denied') return pages.denied
  return error.code === 'response_invalid' ? pages.expired : pages.failed
}

function findCookie(header: string, name: string): string | undefined {
  const prefix = `${name}=`
  const pairs = header.split(';').map((pair) => pair.trim())
  return pairs.find((pair) => pair.startsWith(prefix))?.slice(prefix.length)
}
