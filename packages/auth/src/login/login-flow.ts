import { createLedger, isThisMachine } from '@x/core'
import type { HttpAuthorizer, Principal } from '@x/exchange'
import type { FetchFunction } from '../bounded-fetch.ts'
import { AuthError, isAuthError } from '../client/auth-error.ts'
import type { Authorizer } from '../client/authorizer.ts'
import { CallerCache } from '../client/caller-cache.ts'
import type { ClientIdentity, ClientRegistration } from '../client/client-identity.ts'
import {
  CodeAuthorizer,
  createPersonAuthorizer,
  type FinishedLogin,
  type PersonAuthorizerOptions,
} from '../client/code-authorizer.ts'
import type { Redirect } from '../client/code-flow.ts'
import { withoutFragment } from '../client/safe-url.ts'
import type { Protection } from '../server/protect.ts'
import { type BegunLogin, type LoginTickets, type LoginUser, userKeyOf } from './login-tickets.ts'

export interface LoginFlowOptions {
  /** Verifies the person who logs in, as it verifies the callers of the gateway. */
  readonly protection: Pick<Protection, 'authenticate' | 'documents'>
  /** Address of the gateway, as `protection` has it. */
  readonly resource: URL
  /** The gateway as a client at its own authorization server. */
  readonly ownClient: ClientIdentity
  readonly callbackUrl: URL
  readonly issuers: PersonAuthorizerOptions['issuers']
  readonly fetch: FetchFunction
  readonly now: () => number
  readonly storeOf: (user: string) => Promise<NonNullable<PersonAuthorizerOptions['store']>>
  readonly tickets: LoginTickets
}

/** Where a browser is sent, and the `state` of the response. */
export interface Visit {
  readonly url: URL
  readonly state: string
}

/** Logins of a gateway's users at its upstreams. Any instance continues a login that another began. */
export class LoginFlow {
  readonly #options: LoginFlowOptions
  readonly #authorizers: CallerCache<HttpAuthorizer>
  readonly #localCaller = { ledger: createLedger(), callerKey: 'login' }
  // Bounded by the upstreams of the gateway.
  readonly #clientByUpstream = new Map<string, ClientIdentity>()

  constructor(options: LoginFlowOptions) {
    this.#options = options
    this.#authorizers = new CallerCache(options.now)
  }

  /** Returns the address of the upstream. */
  addUpstream(url: string | URL, registration: ClientRegistration | undefined): URL {
    const endpoint = withoutFragment(url)
    const { name, metadataUrl } = this.#options.ownClient
    this.#clientByUpstream.set(endpoint.href, { name, metadataUrl, registrations: registration && [registration] })
    return endpoint
  }

  /** An authorizer for a caller at an upstream, or the page at which the caller logs in. */
  async findCredential(
    principal: Principal | undefined,
    endpoint: URL,
  ): Promise<HttpAuthorizer | { readonly loginUrl: string }> {
    const user = requireUser(principal)
    const key = JSON.stringify([userKeyOf(user), endpoint.href])
    const known = this.#authorizers.get(key)
    if (known !== undefined) return known
    const { tickets, issuers, fetch, now, storeOf } = this.#options
    const client = this.#requireClient(endpoint.href)
    const options = { client, issuers, fetch, runtime: { now }, store: await storeOf(userKeyOf(user)) }
    const authorizer = createPersonAuthorizer(options, async (request) => {
      const isRefused = await this.#hasAllScopes(authorizer, request)
      if (isRefused) {
        this.#authorizers.delete(key)
        await authorizer.storedCredentials.forget(endpoint)
      }
      const scopes = isRefused ? undefined : request.scopes
      const url = await tickets.createLink({ user, endpoint: endpoint.href, scopes })
      throw new AuthError('authorization_needed', 'The user must log in at the upstream', { url })
    })
    if ((await authorizer.storedCredentials.load(endpoint)) === undefined)
      return { loginUrl: (await tickets.createLink({ user, endpoint: endpoint.href, scopes: undefined })).href }
    return (
      this.#authorizers.get(key) ??
      this.#authorizers.set(key, {
        headers: (target) => authorizer.headers(target),
        onResponse: (head, target) => authorizer.onResponse(head, target),
      })
    )
  }

  /**
   * Begins one half of a login. Undefined if there is nothing to do, because the user has logged in elsewhere
   * meanwhile.
   */
  async begin(login: BegunLogin): Promise<Visit | undefined> {
    let visit: Visit | undefined
    const { authorizer } = await this.#createAuthorizer(login, (started) => (visit = started))
    const isVerification = login.stage === 'verify'
    const options = {
      scopes: isVerification ? undefined : login.scopes,
      replacesToken: true,
      isOneTime: isVerification,
    }
    try {
      await authorizer.login(this.#endpointOf(login), new AbortController().signal, options)
    } catch (error) {
      if (visit === undefined || !isAuthError(error) || error.code !== 'authorization_needed') throw error
    }
    return visit
  }

  /**
   * True if the response of the first half comes from the user who needs the login. The token of this half answers this
   * question alone, and is not stored. Rejects with {@link AuthError} if it does not answer the question.
   */
  async isSameUser(login: BegunLogin, answerUrl: URL): Promise<boolean> {
    const { token } = await this.#finish(login, answerUrl)
    let cause: unknown
    const report = (error: unknown): void => void (cause = error)
    const request = {
      method: 'GET',
      url: this.#options.resource.pathname,
      source: undefined,
      headerValues: (name: string) => (name === 'authorization' ? [`Bearer ${token.access}`] : []),
    }
    const found = await this.#options.protection.authenticate(request, { ...this.#localCaller, report })
    if ('subject' in found) return found.subject === login.user.subject && found.issuer === login.user.issuer
    // Nothing is known about the user: the token cannot be checked at present, or the gateway does not accept it.
    const code = found.status === 503 || found.status === 429 ? 'server_unavailable' : 'token_refused'
    throw new AuthError(code, `The gateway did not accept the token of its user: ${found.message}`, { cause })
  }

  /** Stores the token of the second half for the user. */
  async storeToken(login: BegunLogin, answerUrl: URL): Promise<void> {
    const { store } = await this.#finish(login, answerUrl)
    await store()
  }

  async #finish(login: BegunLogin, answerUrl: URL): Promise<FinishedLogin> {
    const authorizer = await this.#createAuthorizer(login, () => undefined)
    const finished = await authorizer.finishLogin(answerUrl)
    if (finished.endpoint.href === this.#endpointOf(login).href) return finished
    throw new AuthError('response_invalid', 'The response belongs to the login at another server')
  }

  #endpointOf({ stage, endpoint }: BegunLogin): URL {
    return stage === 'verify' ? this.#options.resource : new URL(endpoint)
  }

  async #createAuthorizer(login: BegunLogin, onVisit: (visit: Visit) => void): Promise<CodeAuthorizer> {
    const { ownClient, issuers, fetch, now, storeOf } = this.#options
    const isVerification = login.stage === 'verify'
    return new CodeAuthorizer({
      client: isVerification ? ownClient : this.#requireClient(login.endpoint),
      fetch: isVerification ? this.#createOwnFetch(login.user) : fetch,
      issuers,
      runtime: { now },
      store: await storeOf(userKeyOf(login.user)),
      redirect: this.#createRedirect(onVisit),
    })
  }

  #createRedirect(onVisit: (visit: Visit) => void): Redirect {
    const { callbackUrl } = this.#options
    return {
      applicationType: isThisMachine(callbackUrl.hostname) ? 'native' : 'web',
      open: async () => ({
        uri: callbackUrl.href,
        visit: async (url, state) => {
          onVisit({ url, state })
          throw new AuthError('authorization_needed', 'The browser is redirected', { url })
        },
        close: async () => {},
      }),
    }
  }

  /** Answers for the gateway's metadata without a request. They name the issuer of this user alone. */
  #createOwnFetch({ issuer }: LoginUser): FetchFunction {
    const { fetch, resource, protection } = this.#options
    return async (address, request) => {
      const { origin, pathname } = new URL(address)
      const document = origin === resource.origin ? protection.documents[pathname] : undefined
      return document === undefined
        ? fetch(address, request)
        : Response.json({ ...document.body, authorization_servers: [issuer] })
    }
  }

  async #hasAllScopes(
    { storedCredentials }: Authorizer,
    { endpoint, requiredScopes }: { readonly endpoint: URL; readonly requiredScopes: readonly string[] },
  ): Promise<boolean> {
    const stored = await storedCredentials.load(endpoint)
    return requiredScopes.every((scope) => stored?.token.requested.includes(scope) === true)
  }

  #requireClient(endpoint: string): ClientIdentity {
    const client = this.#clientByUpstream.get(endpoint)
    if (client !== undefined) return client
    throw new AuthError('client_needed', 'The gateway has no upstream with the address of this login')
  }
}

function requireUser(principal: Principal | undefined): LoginUser {
  const { issuer, subject } = principal ?? {}
  if (issuer !== undefined && subject !== undefined) return { issuer, subject }
  throw new AuthError('client_needed', 'Only a caller that protect() of @x/auth/server has verified can log in')
}
