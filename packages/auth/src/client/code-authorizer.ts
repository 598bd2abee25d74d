import { Authorizer, type AuthorizerOptions, resolveAuthorizerDeps } from './authorizer.ts'
import type { AuthError } from './auth-error.ts'
import { type AuthServerSettings, type AuthorizerDeps, withoutRefusedDpop } from './authorize.ts'
import { type ClientIdentity, findClientOf } from './client-identity.ts'
import { type CodeFlowOptions, createCodeFlow, finishLogin, type Redirect } from './code-flow.ts'
import { matchesBinding } from './dpop-binding.ts'
import { takePendingLogin } from './pending-logins.ts'
import { withoutFragment } from './safe-url.ts'
import { toAuthenticatedClient } from './server-requests.ts'
import { withLock } from './store.ts'
import type { StoredToken } from './stored.ts'
import type { RequestGrant } from './token-source.ts'

/** Options of `oauth`. */
export interface OAuthOptions extends AuthorizerOptions {
  readonly client: ClientIdentity
  readonly redirect: Redirect
  /** Settings for authorization servers, by issuer. */
  readonly issuers?: Readonly<Record<string, AuthServerSettings>> | undefined
}

export type PersonAuthorizerOptions = Omit<OAuthOptions, 'redirect'>

type Deps = ReturnType<typeof resolveAuthorizerDeps>

/** For the tokens of one person. `requestGrant` obtains one when none can be refreshed. */
export function createPersonAuthorizer(
  { client: identity, issuers = {}, ...options }: PersonAuthorizerOptions,
  requestGrant: RequestGrant,
  deps: Deps = resolveAuthorizerDeps(options),
): Authorizer {
  const { dpop } = deps
  const settings: Omit<AuthorizerDeps, keyof Deps> = {
    requestGrant,
    findClient: (serverContext, token) => {
      const client = findClientOf(serverContext, identity, token)
      return client && toAuthenticatedClient(client, serverContext.server)
    },
    isUsable: (token) => matchesBinding(dpop, token),
    requiresUserInteraction: true,
    settingsByIssuer: new Map(Object.entries(issuers)),
    preferredIssuers: identity.registrations?.map(({ issuer }) => issuer) ?? [],
  }
  return new Authorizer({ ...deps, ...settings })
}

/** A login whose response was correct. */
export interface FinishedLogin {
  /** MCP server that the person logged in at. */
  readonly endpoint: URL
  readonly token: StoredToken
  /** From then on, the authorizer uses the token. */
  store(): Promise<void>
}

/** Obtains tokens through logins of a person, by the code flow, also those whose second half happens in web pages. */
export class CodeAuthorizer {
  readonly authorizer: Authorizer
  readonly #flow: CodeFlowOptions

  constructor(options: OAuthOptions) {
    const { redirect, ...personOptions } = options
    const deps = resolveAuthorizerDeps(options, redirect.showWait)
    const { records, now, openLogins } = deps
    this.#flow = { identity: options.client, redirect, records, now, openLogins }
    this.authorizer = createPersonAuthorizer(personOptions, createCodeFlow(this.#flow), deps)
  }

  get records(): Deps['records'] {
    return this.#flow.records
  }

  /** The login at an endpoint that is open in a browser. */
  pendingLogin(endpoint: URL): AuthError | undefined {
    return this.#flow.openLogins.get(withoutFragment(endpoint).href)
  }

  /** Calls `listener` when a login at an endpoint opens and ends. The returned function removes it. */
  onLoginChange(endpoint: URL, listener: (pendingLogin: AuthError | undefined) => void): () => void {
    return this.#flow.openLogins.watch(withoutFragment(endpoint).href, listener)
  }

  /** Tells the connections to an endpoint that its user has logged out. */
  reportLogout(endpoint: URL): void {
    this.#flow.openLogins.reportLogout(withoutFragment(endpoint).href)
  }

  /** Checks the response to a login, and exchanges its code for a token. Stores no token. */
  async finishLogin(answerUrl: URL): Promise<FinishedLogin> {
    const { records } = this.#flow
    const { storedCredentials, resolveServerContext } = this.authorizer
    const answeredLogin = await takePendingLogin(this.#flow, answerUrl)
    const { issuer, resource } = answeredLogin
    const endpoint = new URL(answeredLogin.endpoint)
    const refusesDpop = (await storedCredentials.loadEndpoint(endpoint))?.refusesDpop === true
    const resolvedContext = await resolveServerContext(issuer, endpoint, new AbortController().signal)
    const serverContext = withoutRefusedDpop(resolvedContext, refusesDpop, endpoint)
    const token = await finishLogin(this.#flow, serverContext, answeredLogin)
    const key = records.tokens.toKey(issuer, resource)
    const store = async (): Promise<void> => {
      await withLock(records.store, key, () => records.tokens.write(key, token))
      await storedCredentials.store(endpoint, { issuer, resource, refusesDpop }, token)
    }
    return { endpoint, token, store }
  }
}
