import type { AuthorizationServer } from 'oauth4webapi'
import { type AuthError, isAuthError } from './auth-error.ts'
import type { FetchFunction } from '../bounded-fetch.ts'
import type { AuthenticatedClient, AuthServerContext } from './server-requests.ts'
import { withLock } from './store.ts'
import type { AuthRecords, StoredToken } from './stored.ts'
import { requestRefreshGrant, toStoredToken } from './token-requests.ts'

/** The purpose for which a token is needed. */
export interface TokenRequirements {
  readonly endpoint: URL
  readonly serverContext: AuthServerContext & { readonly sendsResource: boolean }
  /** As the metadata of the resource has it. */
  readonly resource: string
  readonly scopes: readonly string[]
}

/** Obtains a new token. A person, a machine, a workload and an enterprise differ in this function alone. */
export type ObtainToken = (requirements: TokenRequirements) => Promise<StoredToken>

/** Sources of a valid token. */
export interface TokenSource {
  readonly records: AuthRecords
  readonly fetch: FetchFunction
  readonly now: () => number
  readonly obtain: ObtainToken
  /** Returns the client that a token was issued to, when it can still authenticate. */
  findClient(server: AuthorizationServer, id: string): Promise<AuthenticatedClient | undefined>
  /** Returns true for a stored token that this client may use. */
  isUsable(token: StoredToken): Promise<boolean>
}

/** A request for a token, with the conditions that it has to meet. */
export interface TokenRequest extends TokenRequirements {
  /** The access token that the server refused. */
  readonly rejectedToken?: string | undefined
  /** The scopes that the login of the token must have requested. */
  readonly requiredScopes: readonly string[]
  /**
   * True when a refresh can help. A refresh adds no scopes, and a token that was just refreshed is not refused for its
   * age.
   */
  readonly canRefresh: boolean
  /** Returns `false` when no further authorization is allowed. Called before each. */
  readonly canObtainToken: () => boolean
}

/** A token and its origin. */
export interface TokenResult {
  readonly token: StoredToken
  readonly obtainedBy: 'store' | 'refresh' | 'authorization'
}

/** True when a token has expired, or would expire before a response could arrive. */
export function isRenewalDue({ renewAt }: StoredToken, now: number): boolean {
  return renewAt !== undefined && renewAt <= now
}

/**
 * Returns a token that meets the request: one that another process stored meanwhile, a refreshed one, or a new one.
 * Holds the lock of its issuer and resource, so that a rotating refresh token is used once. Returns `undefined` when
 * only a new authorization would help, and none is allowed.
 */
export function getOrObtainToken(source: TokenSource, request: TokenRequest): Promise<TokenResult | undefined> {
  const { records } = source
  const key = records.tokens.toKey(request.serverContext.server.issuer, request.resource)
  return withLock(records.store, key, async () => {
    const foundToken = await records.tokens.read(key)
    const storedToken = foundToken && (await source.isUsable(foundToken)) ? foundToken : undefined
    return (
      (storedToken && (await reuseStoredToken(source, request, storedToken))) ??
      obtainNewToken(source, request, storedToken)
    )
  })
}

/** Returns a token without a new authorization: the stored one, or a refreshed one. */
async function reuseStoredToken(
  source: TokenSource,
  request: TokenRequest,
  storedToken: StoredToken,
): Promise<TokenResult | undefined> {
  if (!request.requiredScopes.every((scope) => storedToken.requested.includes(scope))) return undefined
  if (storedToken.access !== request.rejectedToken && !isRenewalDue(storedToken, source.now()))
    return { token: storedToken, obtainedBy: 'store' }
  return request.canRefresh && storedToken.refresh !== undefined
    ? refreshStoredToken(source, request, storedToken)
    : undefined
}

async function obtainNewToken(
  source: TokenSource,
  request: TokenRequest,
  storedToken: StoredToken | undefined,
): Promise<TokenResult | undefined> {
  if (!request.canObtainToken()) return undefined
  const { records } = source
  // basic/authorization, step-up flow: earlier requested scopes stay.
  const scopes = [...new Set([...(storedToken?.requested ?? []), ...request.scopes])]
  const token = await source.obtain({ ...request, scopes })
  await records.tokens.write(records.tokens.toKey(request.serverContext.server.issuer, request.resource), token)
  return { token, obtainedBy: 'authorization' }
}

async function refreshStoredToken(
  source: TokenSource,
  request: TokenRequest,
  storedToken: StoredToken,
): Promise<TokenResult | undefined> {
  const { serverContext, resource } = request
  const client = await source.findClient(serverContext.server, storedToken.clientId)
  if (client === undefined) return undefined
  try {
    const params = {
      refreshToken: storedToken.refresh ?? '',
      resource: serverContext.sendsResource ? resource : undefined,
    }
    const grant = await requestRefreshGrant(serverContext, client, params)
    const { requested, clientId } = storedToken
    const token = {
      ...toStoredToken(grant, source.now()),
      refresh: grant.refreshToken ?? storedToken.refresh,
      requested,
      clientId,
    }
    await source.records.tokens.write(source.records.tokens.toKey(serverContext.server.issuer, resource), token)
    return { token, obtainedBy: 'refresh' }
  } catch (error) {
    if (!isAuthError(error) || error.code !== 'token_rejected' || isTemporaryError(error)) throw error
    return error.error === 'invalid_grant' ? recoverFromInvalidGrant(source, request, storedToken) : undefined
  }
}

/** Deletes a refresh token that is no longer valid, unless another process has stored a newer one meanwhile. */
async function recoverFromInvalidGrant(
  { records }: TokenSource,
  { serverContext, resource }: TokenRequest,
  storedToken: StoredToken,
): Promise<TokenResult | undefined> {
  const key = records.tokens.toKey(serverContext.server.issuer, resource)
  const currentToken = await records.tokens.read(key)
  if (currentToken !== undefined && currentToken.refresh !== storedToken.refresh)
    return { token: currentToken, obtainedBy: 'store' }
  await records.tokens.write(key, { ...storedToken, refresh: undefined })
  return undefined
}

// RFC 6749, section 5.2, has no such codes, but servers send them. An error without a code does not concern the token.
function isTemporaryError({ error }: AuthError): boolean {
  return error === undefined || error === 'server_error' || error === 'temporarily_unavailable' || error === 'slow_down'
}
