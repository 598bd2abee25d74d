import { checkArgument, type OptionTable, resolveOptions } from '@x/core'
import type { HttpAuthorizer } from '@x/transport-http/client'
import { AuthError, isAuthError } from './auth-error.ts'
import type { Authorizer } from './authorizer.ts'
import { checkClientIdentity, type ClientIdentity, findClientOf, isUnknownClient } from './client-identity.ts'
import { CodeAuthorizer, type OAuthOptions } from './code-authorizer.ts'
import { forgetPendingLogins } from './pending-logins.ts'
import { withoutFragment } from './safe-url.ts'
import { toAuthenticatedClient, revokeToken } from './server-requests.ts'
import type { StoredCredential } from './stored-credentials.ts'

const oauthOptionTable = {
  client: undefined,
  redirect: undefined,
  issuers: undefined,
  dpop: undefined,
  store: undefined,
  fetch: undefined,
  runtime: undefined,
} satisfies OptionTable<OAuthOptions>

/** Logins of one person, at any number of servers. */
export interface OAuth extends HttpAuthorizer {
  /** Logs in at a server before the first request to it. */
  login(url: string | URL, options?: { readonly signal?: AbortSignal }): Promise<void>
  /**
   * The login at a server that is open in a browser, as an `AuthError` `login_pending` with the page as `url`.
   * Undefined if there is none. The `state` of the connection has it as its `reason`.
   */
  pendingLogin(url: string | URL): AuthError | undefined
  /**
   * Ends the login at a server, also one that waits for the user. Deletes its tokens and this program's registration at
   * the authorization server here, then revokes the tokens if the authorization server can. Rejects with
   * {@link AuthError} if the revocation fails.
   */
  logout(url: string | URL): Promise<void>
  /** Finishes a login. `answerUrl` is where the person was redirected. Resolves with the address of the MCP server. */
  finishLogin(answerUrl: string | URL): Promise<{ readonly url: string }>
}

/**
 * A person logs in when a server requires a token, by the code flow of OAuth 2.1 (basic/authorization). Nothing is sent
 * to an authorization server before the MCP server has answered 401 or you have called `login`.
 *
 * Calls reject with {@link AuthError} if the login fails, and with the code `login_ended` after five minutes.
 * `finishLogin` accepts a response for ten minutes after the login began. Throws a `TypeError` for an invalid client.
 *
 * @example
 * const auth = oauth({ client: { name: 'items-cli', metadataUrl }, redirect: loopbackRedirect() })
 * await using connection = connectHttp('https://mcp.example.com/mcp', { auth })
 */
export function oauth(options: OAuthOptions): OAuth {
  resolveOptions(options, oauthOptionTable, 'oauth')
  checkArgument(options, { where: 'oauth', takes: 'an object with client', needs: ['client'] })
  checkClientIdentity(options.client)
  const codeAuthorizer = new CodeAuthorizer(options)
  const { authorizer } = codeAuthorizer
  return {
    headers: (target) => authorizer.headers(target),
    onResponse: (head, target) => authorizer.onResponse(head, target),
    onLoginChange: (endpoint, listener) => codeAuthorizer.onLoginChange(endpoint, listener),
    pendingLogin: (url) => codeAuthorizer.pendingLogin(new URL(url)),
    login: (url, { signal = new AbortController().signal } = {}) => authorizer.login(withoutFragment(url), signal),
    logout: (url) => logout(codeAuthorizer, withoutFragment(url), options.client),
    finishLogin: async (answerUrl) => {
      const { endpoint, store } = await codeAuthorizer.finishLogin(new URL(answerUrl))
      await store()
      return { url: endpoint.href }
    },
  }
}

async function logout(codeAuthorizer: CodeAuthorizer, endpoint: URL, identity: ClientIdentity): Promise<void> {
  const { records, authorizer } = codeAuthorizer
  authorizer.endLogin(endpoint)
  const begunIssuer = await forgetPendingLogins(records, endpoint)
  const credential = await authorizer.storedCredentials.forget(endpoint)
  const issuer = credential?.endpoint.issuer ?? begunIssuer
  // If its registration made the login fail, there is no token, and the person has no other way out than this.
  if (issuer !== undefined) await records.clients.remove(records.clients.toKey(issuer))
  codeAuthorizer.reportLogout(endpoint)
  if (credential !== undefined) await revokeTokens(authorizer, credential, { endpoint, identity })
}

async function revokeTokens(
  { resolveServerContext }: Authorizer,
  { token, endpoint: { issuer } }: StoredCredential,
  { endpoint, identity }: { readonly endpoint: URL; readonly identity: ClientIdentity },
): Promise<void> {
  try {
    const serverContext = await resolveServerContext(issuer, endpoint, new AbortController().signal)
    const client = findClientOf(serverContext, identity, token)
    if (serverContext.server.revocation_endpoint === undefined || client === undefined) return
    const revoke = (value: string, hint: 'refresh_token' | 'access_token'): Promise<void> =>
      revokeToken(serverContext, toAuthenticatedClient(client, serverContext.server), { value, hint })
    if (token.refresh !== undefined) await revoke(token.refresh, 'refresh_token')
    await revoke(token.access, 'access_token')
  } catch (cause) {
    // RFC 7009, section 2.2.1: a server may be unable to revoke an access token that is a JWT; it stays valid until it
    // expires. A server that does not know the client has no token of it.
    if (isUnknownClient(cause) || (isAuthError(cause) && cause.error === 'unsupported_token_type')) return
    const message = 'The tokens were deleted here but could not be revoked: they may be valid until they expire'
    throw new AuthError('server_unavailable', message, { issuer, cause })
  }
}
