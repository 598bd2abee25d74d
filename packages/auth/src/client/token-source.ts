import { platformRuntime, quoteText, settlesWithin } from '@x/core'
import { AuthError, isAuthError } from './auth-error.ts'
import { forgetUnknownClient, isUnknownClient } from './client-identity.ts'
import type { FetchFunction } from '../bounded-fetch.ts'
import type { AuthenticatedClient, AuthServerContext } from './server-requests.ts'
import type { OpenLogins } from './open-logins.ts'
import { withLock } from './store.ts'
import type { AuthRecords, StoredToken } from './stored.ts'
import { refreshBeforeExpiryMs, requestRefreshGrant, toStoredToken } from './token-requests.ts'

/** What a token must be good for. */
export interface TokenRequirements {
  readonly endpoint: URL
  readonly serverContext: AuthServerContext & { readonly sendsResource: boolean }
  /** Identifier of the resource, exactly as its metadata spells it. */
  readonly resource: string
  readonly scopes: readonly string[]
}

/** How to get a valid token. */
export interface TokenSource {
  readonly records: AuthRecords
  readonly fetch: FetchFunction
  readonly now: () => number
  readonly openLogins: OpenLogins
  readonly requestGrant: RequestGrant
  /** Undefined if the client to which the token was issued can no longer authenticate. */
  findClient(serverContext: AuthServerContext, token: StoredToken): AuthenticatedClient | undefined
  /** True if this authorizer may use a stored token. */
  isUsable(token: StoredToken): Promise<boolean>
}

/** When a stored token will do, and when a new one may be obtained. */
export interface TokenRequest extends TokenRequirements {
  /** Access token that the MCP server refused. */
  readonly rejectedToken?: string | undefined
  /** Scopes that must have been requested for the token. */
  readonly requiredScopes: readonly string[]
  /** False if scopes are missing, or the refused token was just refreshed. */
  readonly canRefresh: boolean
  /** Asked before each new authorization. `false` allows none. */
  readonly canRequestGrant: () => boolean
}

/**
 * Obtains a new token by an OAuth grant. Authorizers for persons, machines, workloads and enterprises differ only in
 * this function.
 */
export type RequestGrant = (request: GrantRequest) => Promise<StoredToken>

export interface GrantRequest extends TokenRequest {
  /** Client of the token that is replaced. */
  readonly lastClientId?: string | undefined
  /** Scopes that the replaced token lacks. */
  readonly addedScopes?: readonly string[] | undefined
}

export interface TokenResult {
  readonly token: StoredToken
  readonly obtainedBy: 'store' | 'refresh' | 'grant'
}

/** True for a token that has expired, or may before a response arrives. */
export function isRenewalDue({ renewAt }: StoredToken, now: number): boolean {
  return renewAt !== undefined && renewAt <= now
}

/** True for a token that certainly has expired, as far as its server has said. */
export function hasExpired({ renewAt }: StoredToken, now: number): boolean {
  return renewAt !== undefined && renewAt + refreshBeforeExpiryMs <= now
}

/** Most servers answer within a second. */
const earlyRenewalMs = 1000

/** False if a renewal takes too long for a call whose token has not expired. It continues for later calls. */
export function isRenewedSoon(renewal: Promise<unknown>): Promise<boolean> {
  return settlesWithin(renewal, earlyRenewalMs, platformRuntime)
}

/**
 * Finds a token that will do: stored, refreshed or new. Requests for the same issuer and resource run one after
 * another, so that each rotating refresh token is used once; another process may have stored the token meanwhile.
 * `undefined` if only a new authorization would help and none is allowed.
 */
export function acquireToken(source: TokenSource, request: TokenRequest): Promise<TokenResult | undefined> {
  const { records } = source
  const { issuer, signal } = request.serverContext
  const key = records.tokens.toKey(issuer, request.resource)
  const endWait = announceWait(source, request)
  const acquisition = withLock(records.store, key, async () => {
    endWait()
    // No call waits for this token any more, so no page opens.
    signal.throwIfAborted()
    const foundToken = await records.tokens.read(key)
    const isBoundInVain = foundToken?.thumbprint !== undefined && request.serverContext.dpop === undefined
    const isUsable = foundToken !== undefined && !isBoundInVain && (await source.isUsable(foundToken))
    const storedToken = isUsable ? foundToken : undefined
    return (
      (storedToken && (await reuseStoredToken(source, request, storedToken))) ??
      requestNewToken(source, request, storedToken)
    )
  })
  // A store may also fail to lock.
  return acquisition.finally(endWait)
}

/**
 * Another process may hold the lock while a person logs in there, so a call that waits for it shows as an open login.
 * The returned function ends that.
 */
function announceWait({ openLogins }: TokenSource, { endpoint, serverContext }: TokenRequest): () => void {
  const { issuer } = serverContext
  const message = `Waiting for another login at ${quoteText(issuer)}, which may be open in the browser of another process`
  const wait = new AuthError('login_pending', message, { issuer })
  return openLogins.wait(endpoint.href, wait)
}

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

async function requestNewToken(
  source: TokenSource,
  request: TokenRequest,
  storedToken: StoredToken | undefined,
): Promise<TokenResult | undefined> {
  if (!request.canRequestGrant()) return undefined
  const { records } = source
  // basic/authorization, step-up flow: a new authorization also requests the scopes of earlier ones.
  const scopes = [...new Set([...(storedToken?.requested ?? []), ...request.scopes])]
  const addedScopes = storedToken && request.requiredScopes.filter((scope) => !storedToken.requested.includes(scope))
  const token = await source.requestGrant({ ...request, scopes, addedScopes, lastClientId: storedToken?.clientId })
  // A logout that ended this login has already removed what is stored.
  request.serverContext.signal.throwIfAborted()
  await records.tokens.write(records.tokens.toKey(request.serverContext.issuer, request.resource), token)
  return { token, obtainedBy: 'grant' }
}

async function refreshStoredToken(
  source: TokenSource,
  request: TokenRequest,
  storedToken: StoredToken,
): Promise<TokenResult | undefined> {
  const { serverContext, resource } = request
  const client = source.findClient(serverContext, storedToken)
  if (client === undefined) return undefined
  try {
    const params = {
      refreshToken: storedToken.refresh ?? '',
      resource: serverContext.sendsResource ? resource : undefined,
    }
    const registration = { records: source.records, issuer: serverContext.issuer, id: storedToken.clientId }
    const grant = await forgetUnknownClient(requestRefreshGrant(serverContext, client, params), registration)
    serverContext.signal.throwIfAborted()
    const refresh = grant.refreshToken ?? storedToken.refresh
    const token = { ...storedToken, ...toStoredToken(grant, source.now()), refresh }
    await source.records.tokens.write(source.records.tokens.toKey(serverContext.issuer, resource), token)
    return { token, obtainedBy: 'refresh' }
  } catch (error) {
    if (!isRejection(error)) throw error
    const isGone = error.error === 'invalid_grant' || isUnknownClient(error)
    return isGone ? recoverFromLostGrant(source, request, storedToken) : undefined
  }
}

async function recoverFromLostGrant(
  { records }: TokenSource,
  { serverContext, resource }: TokenRequest,
  storedToken: StoredToken,
): Promise<TokenResult | undefined> {
  const key = records.tokens.toKey(serverContext.issuer, resource)
  const currentToken = await records.tokens.read(key)
  if (currentToken !== undefined && currentToken.refresh !== storedToken.refresh)
    return { token: currentToken, obtainedBy: 'store' }
  await records.tokens.write(key, { ...storedToken, refresh: undefined })
  return undefined
}

/**
 * True if the refresh token is of no use. Some codes of RFC 6749, section 4.1.2.1, also arrive from token endpoints and
 * only mean "not now". An error without a code is not about the token.
 */
function isRejection(error: unknown): error is AuthError {
  if (!isAuthError(error) || error.code !== 'token_rejected' || error.error === undefined) return false
  return !['server_error', 'temporarily_unavailable', 'slow_down'].includes(error.error)
}
