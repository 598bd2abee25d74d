import { type Authorizer, createAuthorizer, type AuthorizerOptions, resolveAuthorizerDeps } from './authorizer.ts'
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
  return createAuthorizer({ ...deps, ...settings })
}

/** A login whose response was correct. */
export interface FinishedLogin {
  /** MCP server that the person logged in at. */
  readonly endpoint: URL
  readonly token: StoredToken
  /** From then on, the authorizer uses the token. */
  store(): Promise<void>
}

/** The code flow, with the second half of a login that happens in web pages. */
export interface CodeAuthorizer extends Authorizer {
  readonly records: Deps['records']
  /** The login at an endpoint that is open in a browser. */
  pendingLogin(endpoint: URL): AuthError | undefined
  /** Calls `listener` when a login at an endpoint opens and ends. The returned function removes it. */
  onLoginChange(endpoint: URL, listener: (pendingLogin: AuthError | undefined) => void): () => void
  /** Checks the response to a login, and exchanges its code for a token. Stores no token. */
  finishLogin(answerUrl: URL): Promise<FinishedLogin>
}

/** Obtains tokens through logins of a person, by the code flow. */
export function createCodeAuthorizer(options: OAuthOptions): CodeAuthorizer {
  const { redirect, ...personOptions } = options
  const deps = resolveAuthorizerDeps(options)
  const { records, now, openLogins } = deps
  const codeFlowOptions: CodeFlowOptions = { identity: options.client, redirect, records, now, openLogins }
  const authorizer = createPersonAuthorizer(personOptions, createCodeFlow(codeFlowOptions), deps)
  return {
    ...authorizer,
    records,
    onLoginChange: (endpoint, listener) => openLogins.watch(withoutFragment(endpoint).href, listener),
    pendingLogin: (endpoint) => openLogins.get(withoutFragment(endpoint).href),
    finishLogin: async (answerUrl) => {
      const answeredLogin = await takePendingLogin(codeFlowOptions, answerUrl)
      const { issuer, resource } = answeredLogin
      const endpoint = new URL(answeredLogin.endpoint)
      const refusesDpop = (await authorizer.storedCredentials.loadEndpoint(endpoint))?.refusesDpop === true
      const resolvedContext = await authorizer.resolveServerContext(issuer, endpoint, new AbortController().signal)
      const serverContext = withoutRefusedDpop(resolvedContext, refusesDpop, endpoint)
      const token = await finishLogin(codeFlowOptions, serverContext, answeredLogin)
      const key = records.tokens.toKey(issuer, resource)
      const store = async (): Promise<void> => {
        await withLock(records.store, key, () => records.tokens.write(key, token))
        await authorizer.storedCredentials.store(endpoint, { issuer, resource, refusesDpop }, token)
      }
      return { endpoint, token, store }
    },
  }
}
