import { checkArgument, type OptionTable, resolveOptions, createLog, type Log, platformRuntime } from '@x/core'
import type { HttpAuthorizer, Principal } from '@x/exchange'
import { type KeyInput, sealedState, type StateStore } from '@x/state-codec'
import { platformFetch } from '../bounded-fetch.ts'
import { checkClientIdentity, type ClientIdentity, type ClientRegistration } from '../client/client-identity.ts'
import type { OAuthOptions } from '../client/code-authorizer.ts'
import { parseSecureUrl } from '../oauth-urls.ts'
import type { Protection } from '../server/protect.ts'
import { LoginFlow } from './login-flow.ts'
import { LoginPages } from './login-pages.ts'
import { createLoginStore, maxRecordTtlMs } from './login-store.ts'
import { LoginTickets } from './login-tickets.ts'

/** Options of {@link userLogin}. */
export interface UserLoginOptions extends Pick<OAuthOptions, 'issuers' | 'fetch' | 'runtime'> {
  /**
   * Address of the pages, such as `https://gateway.example.com/login`: https, or http on this machine. Followed by
   * `/callback`, it is the gateway's redirect URI.
   */
  readonly url: string
  /** Protection of the gateway, which also verifies the person who opens a page. It must accept bearer tokens. */
  readonly protection: Pick<Protection, 'authenticate' | 'documents'>
  /** The gateway as a client. Its registrations are those at the issuers of the gateway. */
  readonly client: ClientIdentity
  /** Keeps tokens for all instances. The values are sealed. */
  readonly store: StateStore
  /** Seal tokens, links and cookies: the first key seals. Every instance needs the same ones. */
  readonly keys: readonly (KeyInput | undefined)[]
  /** Default: a log that writes lines to the standard error. */
  readonly log?: Log | undefined
}

/** Logins of a gateway's users at its upstreams. */
export interface UserLogin {
  /**
   * Makes the option `credential` of the upstream at `url`. `registration` is the client that is registered at the
   * upstream's authorization server; without one, the client is the gateway's `metadataUrl`, or registers itself. A
   * `loginUrl` is valid for ten minutes. The function rejects with `AuthError` `client_needed` for a caller that
   * `protect` has not verified.
   */
  credentialFor(
    url: string | URL,
    registration?: ClientRegistration,
  ): (principal: Principal | undefined) => Promise<HttpAuthorizer | { readonly loginUrl: string }>
  /** Answers a request for one of the pages. Undefined for any other path. */
  handle(request: Request): Promise<Response> | undefined
}

const userLoginOptionTable = {
  url: undefined,
  protection: undefined,
  client: undefined,
  store: undefined,
  keys: undefined,
  log: undefined,
  issuers: undefined,
  fetch: undefined,
  runtime: undefined,
} satisfies OptionTable<UserLoginOptions>

/**
 * Lets the users of a gateway log in at its upstreams, each with an account of its own. A call that needs a login asks
 * its user to open a page of the gateway. There the user first logs in at the issuer of the gateway, so that a
 * forwarded link connects no other account, and then at the authorization server of the upstream (OAuth 2.1, code flow
 * with PKCE).
 *
 * A user's tokens are sealed, belong to its issuer and subject, and are used for its calls alone, whichever client
 * sends them. Any instance with the same store and keys serves any page. A token that is not renewed for 30 days is
 * deleted.
 *
 * @example
 * const logins = userLogin({ url: 'https://gateway.example.com/login', protection, client, store: redisStore(redis), keys })
 * const crm = { connect: ({ auth }) => connectAny(crmUrl, { http: { auth } }), credential: logins.credentialFor(crmUrl) }
 * await serveHttp(gateway({ name, version, state, upstreams: { crm } }), { auth: protection, onRequest: loginPages(logins) })
 *
 * @throws TypeError for an unknown option, an address that is not safe, an invalid client, and a `protection` that
 * accepts no bearer tokens. Throws a `StateUsageError` for invalid keys.
 */
export function userLogin(options: UserLoginOptions): UserLogin {
  resolveOptions(options, userLoginOptionTable, 'userLogin')
  checkArgument(options, {
    where: 'userLogin',
    takes: 'an object of options',
    needs: ['client', 'url', 'keys', 'store'],
  })
  const { protection, client, store, fetch = platformFetch, issuers } = options
  checkClientIdentity(client)
  const startUrl = parseSecureUrl('url', options.url.replace(/\/$/, ''))
  const callbackUrl = new URL(`${startUrl.href}/callback`)
  const now = options.runtime?.now ?? platformRuntime.now
  const codec = sealedState({
    keys: options.keys,
    audience: startUrl.href,
    ttlMs: maxRecordTtlMs,
    maxAgeMs: maxRecordTtlMs,
    runtime: { now },
  })
  const log = createLog(options.log, '@x/auth')
  const tickets = new LoginTickets(codec, startUrl, log)
  const flow = new LoginFlow({
    protection,
    resource: findResource(protection),
    ownClient: client,
    callbackUrl,
    issuers,
    fetch,
    now,
    storeOf: (user) => createLoginStore({ store, codec }, user),
    tickets,
  })
  const pages = new LoginPages({ flow, tickets, startUrl, callbackUrl, log })
  return {
    credentialFor: (url, registration) => {
      const endpoint = flow.addUpstream(url, registration)
      return (principal) => flow.findCredential(principal, endpoint)
    },
    handle: (request) => pages.handle(request),
  }
}

function findResource({ documents }: UserLoginOptions['protection']): URL {
  const [document] = Object.values(documents)
  const { resource, dpop_bound_access_tokens_required: requiresDpop } = document?.body ?? {}
  if (requiresDpop === true) throw new TypeError('userLogin cannot verify users by a protection with dpop: "required"')
  if (typeof resource === 'string') return new URL(resource)
  throw new TypeError('protection must be the result of protect() of @x/auth/server')
}
