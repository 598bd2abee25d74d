import type { HttpAuthorizer } from '@x/transport-http/client'
import { AuthError, isAuthError } from './auth-error.ts'
import type { IssuerSelection } from './authorize.ts'
import { type Authorizer, createAuthorizer } from './authorizer.ts'
import { checkIdentity, type ClientIdentity, knownClient } from './client-identity.ts'
import { isBoundTo } from './dpop.ts'
import { codeFlow, finishLogin, type Redirect, takePendingLogin } from './code-flow.ts'
import { type AuthorizerOptions, sharedDeps } from './options.ts'
import { withoutFragment } from './safe-url.ts'
import { authenticated, revokeToken } from './server-requests.ts'

/** Options of a login by a person. */
export interface OAuthOptions extends AuthorizerOptions {
  readonly client: ClientIdentity
  readonly redirect: Redirect
  /** Settings of the user for authorization servers, by issuer. */
  readonly issuers?: Readonly<Record<string, IssuerSelection>> | undefined
}

/** The logins of one person, for any number of servers. */
export interface OAuth extends HttpAuthorizer {
  /** Logs in at a server before the first request to it. */
  login(url: string | URL, options?: { readonly signal?: AbortSignal }): Promise<void>
  /**
   * Ends the login at a server: forgets its tokens, then revokes them where the authorization server can. Rejects with
   * {@link AuthError} when they are forgotten here and could not be revoked.
   */
  logout(url: string | URL): Promise<void>
  /** Takes the address that a person came back to, and resolves with the server that is logged in to. */
  finish(answer: string | URL): Promise<{ readonly url: string }>
}

/**
 * Authorizes requests with the code flow of OAuth 2.1: a person logs in when a server asks for a token
 * (basic/authorization). Nothing is sent before a server has answered 401.
 *
 * Calls reject with {@link AuthError} when there is no login. Throws a `TypeError` for a client that no server would take.
 *
 * @example
 * const auth = oauth({ client: { name: 'items-cli', metadataUrl }, redirect: loopbackRedirect() })
 * await using connection = connectHttp('https://mcp.example.com/mcp', { auth })
 */
export function oauth(options: OAuthOptions): OAuth {
  const { client: identity, redirect, issuers = {} } = options
  checkIdentity(identity)
  const deps = sharedDeps(options)
  const { records, now } = deps
  const login = { identity, redirect, records, now }
  const authorizer = createAuthorizer({
    ...deps,
    obtain: codeFlow(login),
    client: async (server, id) => {
      const client = await knownClient(server, identity, { records, id })
      return client && authenticated(client, server)
    },
    isUsable: (token) => isBoundTo(deps.dpop, token),
    needsPerson: true,
    issuers: new Map(Object.entries(issuers)),
    preferred: identity.registrations?.map(({ issuer }) => issuer) ?? [],
  })
  return {
    headers: authorizer.headers,
    onResponse: authorizer.onResponse,
    login: (url, { signal = new AbortController().signal } = {}) => authorizer.login(withoutFragment(url), signal),
    logout: (url) => logout(authorizer, withoutFragment(url), { identity, records }),
    finish: async (answer) => {
      const url = new URL(answer)
      const begun = await takePendingLogin(login, url)
      const endpoint = new URL(begun.endpoint)
      const link = await authorizer.linkTo(begun.issuer, endpoint, new AbortController().signal)
      const token = await finishLogin(login, link, begun)
      await records.tokens.write(records.tokens.key(begun.issuer, begun.resource), token)
      await authorizer.tokens.store(endpoint, begun, token)
      return { url: begun.endpoint }
    },
  }
}

async function logout(
  authorizer: Authorizer,
  endpoint: URL,
  { identity, records }: Pick<Parameters<typeof codeFlow>[0], 'identity' | 'records'>,
): Promise<void> {
  const current = await authorizer.tokens.current(endpoint)
  await authorizer.tokens.forget(endpoint)
  if (current === undefined) return
  const { token } = current
  const { issuer } = current.endpoint
  try {
    const link = await authorizer.linkTo(issuer, endpoint, new AbortController().signal)
    const client = await knownClient(link.server, identity, { records, id: token.clientId })
    if (link.server.revocation_endpoint === undefined || client === undefined) return
    const revoke = (value: string, hint: 'refresh_token' | 'access_token'): Promise<void> =>
      revokeToken(link, authenticated(client, link.server), { value, hint })
    if (token.refresh !== undefined) await revoke(token.refresh, 'refresh_token')
    await revoke(token.access, 'access_token')
  } catch (cause) {
    // RFC 7009, section 2.2.1: servers revoke no access tokens that are JWTs; those end by themselves.
    if (isAuthError(cause) && cause.error === 'unsupported_token_type') return
    const message = 'The tokens are forgotten here, and may be valid until they end: they could not be revoked'
    throw new AuthError('server_unavailable', message, { issuer, cause })
  }
}
