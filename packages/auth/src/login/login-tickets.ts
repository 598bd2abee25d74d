import { errorRecord, isJsonObject, type JsonObject, type Log } from '@x/core'
import { isStateError, type StateCodec } from '@x/state-codec'
import { stringsOf } from '../client/fetch-server.ts'
import { sha256 } from '../digest.ts'

/** As the issuer of the gateway names the user. */
export interface LoginUser {
  readonly issuer: string
  readonly subject: string
}

/** A login that a call needs. */
export interface NeededLogin {
  readonly user: LoginUser
  readonly endpoint: string
  /** Undefined for all that the upstream lists. */
  readonly scopes: readonly string[] | undefined
}

/**
 * The half of a login that a browser is in: `verify` proves at the issuer of the gateway who the person is, and `grant`
 * asks the authorization server of the upstream for a token.
 */
export type LoginStage = 'verify' | 'grant'

/** A login that a browser has begun. */
export interface BegunLogin extends NeededLogin {
  readonly stage: LoginStage
}

/** How long a person may take for a login. */
// limit: login page | ms | a login of a user at a gateway | the user must start again
export const ticketTtlMs = 600_000

const linkParameter = 'login'
const linkPurpose = 'auth.login-link'
const cookiePurpose = 'auth.login-cookie'

/** What a login seals: the parameter of its link, and the cookie of the browser that follows the link. */
export class LoginTickets {
  readonly #codec: StateCodec
  readonly #startUrl: URL
  readonly #log: Log

  /** `startUrl` is the page at which a login begins. */
  constructor(codec: StateCodec, startUrl: URL, log: Log) {
    this.#codec = codec
    this.#startUrl = startUrl
    this.#log = log
  }

  async createLink(login: NeededLogin): Promise<URL> {
    const link = new URL(this.#startUrl)
    link.searchParams.set(
      linkParameter,
      await this.#codec.seal(toTicketJson(login), { purpose: linkPurpose, ttlMs: ticketTtlMs }),
    )
    return link
  }

  /** Undefined if the link was changed, or is older than ten minutes. */
  async openLink({ searchParams }: URL): Promise<NeededLogin | undefined> {
    return parseLogin(await this.#open(searchParams.get(linkParameter) ?? '', { purpose: linkPurpose }))
  }

  sealCookie(login: BegunLogin, state: string): Promise<string> {
    const content = { ...toTicketJson(login), stage: login.stage }
    return this.#codec.seal(content, { purpose: cookiePurpose, ttlMs: ticketTtlMs, binding: state })
  }

  /** Undefined if the cookie is not of the login with this `state`. */
  async openCookie(text: string, state: string): Promise<BegunLogin | undefined> {
    const content = await this.#open(text, { purpose: cookiePurpose, binding: state })
    const login = parseLogin(content)
    const stage = content?.['stage']
    return login !== undefined && (stage === 'verify' || stage === 'grant') ? { ...login, stage } : undefined
  }

  async #open(text: string, claims: Parameters<StateCodec['open']>[1]): Promise<JsonObject | undefined> {
    if (text === '') return undefined
    try {
      const content = await this.#codec.open(text, claims)
      return isJsonObject(content) ? content : undefined
    } catch (error) {
      if (!isStateError(error)) throw error
      // The page says the same to everybody. Another key, of another instance, looks like an old link to the user.
      this.#log({ ...errorRecord(error, { method: 'login' }), level: 'warn', code: 'login_expired' })
      return undefined
    }
  }
}

/** Each login has a cookie of its own, so that two tabs can log in at the same time. */
export async function cookieNameOf(state: string, isSecure: boolean): Promise<string> {
  return `${isSecure ? '__Host-' : ''}mcp-login-${(await sha256(state)).slice(0, 16)}`
}

/** The same for every client that acts for the user. */
export function userKeyOf({ issuer, subject }: LoginUser): string {
  return JSON.stringify([issuer, subject])
}

function toTicketJson({ user: { issuer, subject }, endpoint, scopes }: NeededLogin): JsonObject {
  return { issuer, subject, endpoint, ...(scopes !== undefined && { scopes: [...scopes] }) }
}

function parseLogin(content: JsonObject | undefined): NeededLogin | undefined {
  const { issuer, subject, endpoint, scopes } = content ?? {}
  if (typeof issuer !== 'string' || typeof subject !== 'string' || typeof endpoint !== 'string') return undefined
  return { user: { issuer, subject }, endpoint, scopes: stringsOf(scopes) }
}
