import {
  type Clock,
  isLimitError,
  isUnavailable,
  optionTypes,
  quoteText,
  unavailableErrorIn,
  withTimeout,
} from '@x/core'
import { type AuthenticationContext, type HttpErrorResponse, limitErrorToHttp, type Principal } from '@x/exchange'
import type { JsonObject } from '@x/schema'
import { type TokenBinding, type BindingOptions, parseTokenBinding, verifyBinding, isPlainBearer } from './binding.ts'
import type { Challenges } from './challenge.ts'
import {
  type AccessToken,
  toCanonicalCredentials,
  type HttpRequestHead,
  isCanonicalBearer,
  parseAuthorization,
  readAuthorization,
} from './credentials.ts'
import { rememberToken } from './caller-token.ts'
import type { Issuers } from './issuers.ts'
import { freezePrincipal, type ToPrincipal } from './principal.ts'
import { expandScopes, type Scopes } from '../scopes.ts'
import { sha256 } from '../digest.ts'
import { isTokenError, TokenError } from './token-error.ts'

/** Who sends a request, or the HTTP response that rejects it. */
export type AuthenticationResult = Principal | HttpErrorResponse

/** Settings of authentication, and its caches. */
export interface AuthenticationState extends BindingOptions {
  /** Responses that reject a request, one set for each authentication scheme. */
  readonly challenges: { readonly bearer: Challenges; readonly dpop: Challenges }
  readonly issuers: Issuers
  /** Used if the HTTP host passes no context for a request. */
  readonly localContext: AuthenticationContext
  readonly verifiedTokens: TokenCache<VerifiedToken>
  /** Running verifications by the digest of their token, so that no token is verified twice at once. */
  readonly pendingVerifications: Map<string, Promise<VerifiedToken>>
  readonly scopes: Scopes
  readonly impliedScopes: ReadonlyMap<string, Scopes>
  readonly toPrincipal: ToPrincipal
  readonly now: () => number
  readonly clock: Clock
  /** Recently rejected tokens. Repeating one causes no request to its issuer. */
  readonly rejectedTokens: TokenCache<TokenError>
  readonly onError: (error: unknown, context?: AuthenticationContext) => void
  /** Reports errors that belong to no request: to the log of the server, once it has asked whether tokens can be verified. */
  readonly background: { report: AuthenticationContext['report'] }
}

export interface VerifiedToken {
  readonly authenticationResult: AuthenticationResult
  readonly binding: TokenBinding | undefined
}

/**
 * Reads the credentials and verifies the token, unless a cached result exists. For a token that is bound to a key,
 * checks the proof too.
 */
export function authenticate(
  request: HttpRequestHead,
  context: AuthenticationContext,
  state: AuthenticationState,
): AuthenticationResult | Promise<AuthenticationResult> {
  const header = readAuthorization(request)
  const knownResult = typeof header === 'string' ? findCachedAuthentication(header, request, state) : undefined
  if (knownResult !== undefined) return reportMissingScopes(knownResult, context, state)
  const credentials = typeof header === 'string' ? parseAuthorization(header) : header
  if (credentials === undefined) return defaultChallengesOf(state).missingToken
  if ('token' in credentials) return identifyCaller(credentials, request, context, state)
  state.onError(new TokenError('invalid_request', credentials.problem), context)
  return defaultChallengesOf(state).malformedRequest
}

function findCachedAuthentication(
  header: string,
  request: HttpRequestHead,
  state: AuthenticationState,
): AuthenticationResult | undefined {
  if (!isCanonicalBearer(header)) return undefined
  const digest = computeDigest(header, socketOf(request))
  const verifiedToken = typeof digest === 'string' ? state.verifiedTokens.get(digest, state.now()) : undefined
  return verifiedToken !== undefined && isPlainBearer(verifiedToken.binding, 'bearer', state)
    ? verifiedToken.authenticationResult
    : undefined
}

/**
 * The last `Authorization` header of each open connection, with its digest. A client sends the same header until it
 * renews its token, and for a cached token computing the digest would be the most expensive step. An entry goes with
 * its connection.
 */
const lastHeaderByConnection = new WeakMap<object, { readonly header: string; readonly digest: string }>()

function computeDigest(header: string, connection: object | undefined): string | Promise<string> {
  const lastHeader = connection && lastHeaderByConnection.get(connection)
  if (lastHeader?.header === header) return lastHeader.digest
  const digest = sha256(header)
  if (connection !== undefined && typeof digest === 'string') lastHeaderByConnection.set(connection, { header, digest })
  return digest
}

/** Undefined on platforms other than Node, which do not expose the connection. */
function socketOf({ source }: HttpRequestHead): object | undefined {
  const socket = typeof source === 'object' && source !== null && 'socket' in source ? source.socket : undefined
  return typeof socket === 'object' && socket !== null ? socket : undefined
}

/** For a request without an authentication scheme. */
export function defaultChallengesOf({ challenges, isProofRequired }: AuthenticationState): Challenges {
  return isProofRequired ? challenges.dpop : challenges.bearer
}

async function identifyCaller(
  credentials: AccessToken,
  request: HttpRequestHead,
  context: AuthenticationContext,
  state: AuthenticationState,
): Promise<AuthenticationResult> {
  const challenges = state.challenges[credentials.scheme]
  try {
    const { authenticationResult, binding } = await getOrVerifyToken(
      { token: credentials.token, digest: await sha256(toCanonicalCredentials(credentials)) },
      context,
      state,
    )
    reportMissingScopes(authenticationResult, context, state)
    if (isPlainBearer(binding, credentials.scheme, state)) return authenticationResult
    const nonce = await verifyBinding(credentials, binding, { request, ledger: context.ledger }, state)
    return nonce === undefined ? authenticationResult : challenges.createNonceChallenge(nonce)
  } catch (error) {
    // Anything else is a bug in the program, which the transport handles.
    if (isLimitError(error)) return limitErrorToHttp(error)
    if (!isTokenError(error) && !isUnavailable(error)) throw error
    state.onError(error, context)
    return createRejection(error, challenges, state)
  }
}

/** A store or database that cannot be reached says nothing about the token, so the client must not log in again. */
function createRejection(error: unknown, challenges: Challenges, { scopes }: AuthenticationState): HttpErrorResponse {
  const code = isTokenError(error) ? error.code : 'issuer_unavailable'
  if (code === 'issuer_unavailable') return challenges.createUnavailableResponse(findRetryAfterMs(error))
  if (code === 'insufficient_scope') return challenges.createScopeChallenge(scopes)
  return code === 'invalid_proof' ? challenges.invalidProof : challenges.invalidToken
}

function findRetryAfterMs(error: unknown): number | undefined {
  const unavailableError = unavailableErrorIn(error) ?? {}
  const retryAfterMs = 'retryAfterMs' in unavailableError ? unavailableError.retryAfterMs : undefined
  return typeof retryAfterMs === 'number' ? retryAfterMs : undefined
}

function getOrVerifyToken(
  hashedToken: Parameters<typeof verifyToken>[0],
  context: AuthenticationContext,
  state: AuthenticationState,
): VerifiedToken | Promise<VerifiedToken> {
  const { digest } = hashedToken
  const knownToken = state.verifiedTokens.get(digest, state.now()) ?? state.pendingVerifications.get(digest)
  if (knownToken !== undefined) return knownToken
  const rejection = state.rejectedTokens.get(digest, state.now())
  if (rejection !== undefined) throw rejection
  const verification = verifyToken(hashedToken, context, state).finally(() => state.pendingVerifications.delete(digest))
  state.pendingVerifications.set(digest, verification)
  return verification
}

async function verifyToken(
  { token, digest }: { readonly token: string; readonly digest: string },
  context: AuthenticationContext,
  state: AuthenticationState,
): Promise<VerifiedToken> {
  const issuer = state.issuers.resolve(token)
  const claims = await issuer.verify(token, context).catch((error: unknown) => {
    if (isTokenError(error) && error.code === 'inactive') {
      const rejectedAt = state.now()
      const validUntil = rejectedAt + rejectionCacheMs
      state.rejectedTokens.set(digest, { value: error, validFrom: rejectedAt, validUntil })
    }
    throw error
  })
  const binding = parseTokenBinding(claims)
  const unboundedPrincipal = withImpliedScopes(await toPrincipal(claims, issuer.issuer, state), state)
  const principal = freezePrincipal(withExpiry(unboundedPrincipal, claims))
  rememberToken(principal, token)
  const { createScopeChallenge } = state.challenges[binding?.jkt === undefined ? 'bearer' : 'dpop']
  const authenticationResult = hasScopes(principal, state.scopes) ? principal : createScopeChallenge(state.scopes)
  if (authenticationResult !== principal)
    missingScopeErrors.set(authenticationResult, createTokenScopesError(principal, state.scopes))
  const verifiedAt = state.now()
  const cachedUntil = verifiedAt + issuer.cacheMs
  const value = { authenticationResult, binding }
  const validUntil = Math.min(cachedUntil, principal.expiresAt ?? cachedUntil)
  state.verifiedTokens.set(digest, { value, validFrom: verifiedAt, validUntil })
  return value
}

/** Why a response rejects the requests of a token. The response is cached, and each request is logged. */
const missingScopeErrors = new WeakMap<AuthenticationResult, TokenError>()

function createTokenScopesError({ subject, scopes = [] }: Principal, neededScopes: Scopes): TokenError {
  const missingScopes = neededScopes.filter((scope) => !scopes.includes(scope))
  return new TokenError('insufficient_scope', `The token of ${quoteText(subject)} lacks ${missingScopes.join(' ')}`)
}

function reportMissingScopes(
  result: AuthenticationResult,
  context: AuthenticationContext,
  { onError }: Pick<AuthenticationState, 'onError'>,
): AuthenticationResult {
  const error = missingScopeErrors.get(result)
  if (error !== undefined) onError(error, context)
  return result
}

const toPrincipalTimeoutMs = 10_000

/** Bounded in time, because all requests with a token wait for its one verification. */
async function toPrincipal(
  claims: JsonObject,
  issuer: string,
  { toPrincipal: createPrincipal, clock }: Pick<AuthenticationState, 'toPrincipal' | 'clock'>,
): Promise<Principal> {
  const message = `toPrincipal did not answer within ${toPrincipalTimeoutMs / 1000} seconds`
  const createTimeoutError = (): TokenError => new TokenError('issuer_unavailable', message, { issuer })
  const timeLimit = { timeoutMs: toPrincipalTimeoutMs, clock, createTimeoutError }
  const principal = await withTimeout(timeLimit, async () => createPrincipal(claims, issuer))
  // Users without a subject would count as one.
  if (optionTypes.principal.accepts(principal)) return principal
  throw new TokenError('invalid_claim', `toPrincipal must return ${optionTypes.principal.name}`)
}

/** `toPrincipal` may have set a later expiry than the token's, none, or one that is no time, such as `NaN`. */
function withExpiry({ expiresAt, ...principal }: Principal, { exp }: JsonObject): Principal {
  const times = [expiresAt, typeof exp === 'number' ? exp * 1000 : undefined].filter(isTime)
  return times.length === 0 ? principal : { ...principal, expiresAt: Math.min(...times) }
}

function isTime(value: number | undefined): value is number {
  return Number.isFinite(value)
}

/** Short, because the instances of an issuer may not accept a new token all at once. */
const rejectionCacheMs = 5000

function withImpliedScopes(principal: Principal, { impliedScopes }: AuthenticationState): Principal {
  return { ...principal, scopes: expandScopes(principal.scopes ?? [], impliedScopes) }
}

function hasScopes({ scopes = [] }: Principal, neededScopes: Scopes): boolean {
  return neededScopes.every((scope) => scopes.includes(scope))
}

interface CachedEntry<T> {
  readonly value: T
  readonly validFrom: number
  readonly validUntil: number
}

type CachedEntries<T> = Map<string, CachedEntry<T>>

/**
 * Results of checks, by the digest of their token. Holds at most `maxEntries` entries, in two halves. Reading an entry
 * moves it to the current half, and a full current half replaces the previous one. So entries in use stay, and reading
 * one costs one or two lookups in a map.
 */
export class TokenCache<T> {
  readonly #maxEntries: number
  #currentEntries: CachedEntries<T> = new Map()
  #previousEntries: CachedEntries<T> = new Map()

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries
  }

  get(digest: string, now: number): T | undefined {
    const recentEntry = this.#currentEntries.get(digest)
    const entry = recentEntry ?? this.#previousEntries.get(digest)
    if (entry === undefined) return undefined
    // Before `validFrom`, the clock was set back, and the entry would be used for too long.
    if (!(entry.validFrom <= now && now < entry.validUntil)) {
      this.#currentEntries.delete(digest)
      this.#previousEntries.delete(digest)
      return undefined
    }
    if (recentEntry === undefined) this.set(digest, entry)
    return entry.value
  }

  set(digest: string, entry: CachedEntry<T>): void {
    if (this.#currentEntries.size >= this.#maxEntries / 2) {
      this.#previousEntries = this.#currentEntries
      this.#currentEntries = new Map()
    }
    this.#currentEntries.set(digest, entry)
  }
}
