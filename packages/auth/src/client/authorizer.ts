import type { HttpAuthorizer, HttpHeaders, HttpResponseHead, HttpTarget } from '@x/transport-http/client'
import { type FetchFunction, platformFetch } from '../bounded-fetch.ts'
import { AuthError, isAuthError } from './auth-error.ts'
import {
  authorize,
  type AuthorizerDeps,
  type AuthServerContextResolver,
  createAuthServerContextResolver,
} from './authorize.ts'
import { findDpopError, mayAskForToken, parseTokenChallenge, type TokenChallenge } from './challenges.ts'
import { createSharedRequests, type SharedRequests } from './coalesced-requests.ts'
import type { DpopBinding } from './dpop-binding.ts'
import { type AuthStore, memoryStore } from './store.ts'
import { createStoredCredentials, type StoredCredential, type StoredCredentials } from './stored-credentials.ts'
import { openRecords, type StoredToken } from './stored.ts'
import { getOrObtainToken, isRenewalDue, type TokenResult } from './token-source.ts'

/** Options that every kind of authorizer has. */
export interface AuthorizerOptions {
  /** Binds tokens to a key: `dpop()` of `@x/auth/dpop`. By default tokens are bearer tokens. */
  readonly dpop?: DpopBinding | undefined
  /**
   * The store of logins and tokens of one client and one person. Default: {@link memoryStore}.
   */
  readonly store?: AuthStore | undefined
  /** Sends metadata and token requests. Default: the platform's. */
  readonly fetch?: FetchFunction | undefined
  /** The clock. The platform's own by default. */
  readonly runtime?: { readonly now?: (() => number) | undefined } | undefined
}

/** Returns the dependencies of an authorizer from its options. */
export function resolveAuthorizerDeps(
  options: AuthorizerOptions,
): Pick<AuthorizerDeps, 'records' | 'fetch' | 'now' | 'dpop'> {
  const { store, fetch = platformFetch, runtime } = options
  const now = runtime?.now ?? Date.now
  const records = openRecords(store ?? memoryStore())
  return {
    records,
    fetch,
    now,
    dpop: options.dpop?.createDpop({ store: records.store, isStored: store !== undefined, now }),
  }
}

/** Counts the recent authorizations by key. */
interface AttemptLimiter {
  /** Counts one more. Returns `false` when the key has reached its limit. */
  tryAcquire(key: string): boolean
}

const attemptWindowMs = 300_000
const maxStepUpsPerOperation = 2
const maxLoginsPerEndpoint = 8
const maxAttemptKeys = 1000

// basic/authorization, step-up flow: a server that always asks for more scopes must not cause endless logins.
function createAttemptLimiter(now: () => number, maxAttempts: number): AttemptLimiter {
  const attemptWindows = new Map<string, { readonly startedAt: number; readonly count: number }>()
  return {
    tryAcquire: (key) => {
      const attemptWindow = attemptWindows.get(key)
      const isRecent = attemptWindow !== undefined && now() - attemptWindow.startedAt < attemptWindowMs
      const { startedAt, count } = isRecent ? attemptWindow : { startedAt: now(), count: 0 }
      if (count >= maxAttempts) return false
      if (!isRecent && attemptWindows.size >= maxAttemptKeys) attemptWindows.clear()
      attemptWindows.set(key, { startedAt, count: count + 1 })
      return true
    },
  }
}

/** An authorizer, and its functions for logins. */
export interface Authorizer extends HttpAuthorizer {
  readonly storedCredentials: StoredCredentials
  readonly resolveServerContext: AuthServerContextResolver
  /** Gets a token for an endpoint without a request to it. */
  login(endpoint: URL, signal: AbortSignal): Promise<void>
}

/** State of one call across its attempts. */
interface CallState {
  /** The access token that it was sent with last. */
  lastSentToken?: string
  obtainedBy?: TokenResult['obtainedBy']
  authorizationCount: number
  /** The access token for which a nonce was taken. */
  nonceRetryToken?: string
}

interface AuthorizerState extends AuthorizerDeps {
  readonly storedCredentials: StoredCredentials
  readonly resolveServerContext: AuthServerContextResolver
  readonly sharedRequests: SharedRequests<TokenResult | undefined>
  readonly stepUpLimiter: AttemptLimiter
  /** Bounds the logins of a person at one endpoint. */
  readonly loginLimiter: AttemptLimiter
  readonly callStateOf: (target: HttpTarget) => CallState
}

const maxAuthorizations = 3

/** Creates an authorizer from a function that obtains tokens. */
export function createAuthorizer(deps: AuthorizerDeps): Authorizer {
  const callStates = new WeakMap<HttpTarget, CallState>()
  const state: AuthorizerState = {
    ...deps,
    storedCredentials: createStoredCredentials(deps),
    resolveServerContext: createAuthServerContextResolver(deps),
    sharedRequests: createSharedRequests(),
    stepUpLimiter: createAttemptLimiter(deps.now, maxStepUpsPerOperation),
    loginLimiter: createAttemptLimiter(deps.now, maxLoginsPerEndpoint),
    callStateOf: (target) => {
      const callState = callStates.get(target) ?? { authorizationCount: 0 }
      callStates.set(target, callState)
      return callState
    },
  }
  const { storedCredentials, resolveServerContext, sharedRequests } = state
  return {
    storedCredentials,
    resolveServerContext,
    headers: (target) => createTokenHeaders(state, target),
    onResponse: (head, target) => {
      deps.dpop?.rememberNonce('resource', target.url, head.header('dpop-nonce'))
      if (head.status === 401) return handleUnauthorized(state, head, target)
      return head.status === 403 ? handleForbidden(state, head, target) : undefined
    },
    login: async (endpoint, signal) => {
      const challenge = { metadataUrl: undefined, scopes: undefined, error: undefined }
      const query = { endpoint, challenge, rejectedToken: undefined, canRefresh: true, canObtainToken: () => true }
      await sharedRequests.join(endpoint.href, { scopes: [], signal }, (sharedSignal) =>
        authorize(state, query, sharedSignal),
      )
    },
  }
}

async function createTokenHeaders(state: AuthorizerState, target: HttpTarget): Promise<HttpHeaders> {
  const credential = await state.storedCredentials.load(target.url)
  if (credential === undefined) return {}
  const isRenewable = credential.token.refresh !== undefined || !state.requiresUserInteraction
  const mustRenew = isRenewable && isRenewalDue(credential.token, state.now())
  const { access, thumbprint } = mustRenew ? await renewToken(state, credential, target) : credential.token
  state.callStateOf(target).lastSentToken = access
  if (thumbprint === undefined || state.dpop === undefined) return { authorization: `Bearer ${access}` }
  const { requestUrl: url = target.url, method } = target
  return {
    authorization: `DPoP ${access}`,
    dpop: await state.dpop.createProof({ nonceSource: 'resource', url, method, accessToken: access }),
  }
}

/** Renews a token that ends soon. While the authorization server is unreachable, a token is used until it expires. */
async function renewToken(
  state: AuthorizerState,
  credential: StoredCredential,
  { url, signal }: HttpTarget,
): Promise<StoredToken> {
  const { endpoint, token } = credential
  const requestRenewal = async (sharedSignal: AbortSignal): Promise<TokenResult | undefined> => {
    const serverContext = await state.resolveServerContext(endpoint.issuer, url, sharedSignal)
    const { resource, requested: scopes } = endpoint
    const requirements = { endpoint: url, serverContext, resource, scopes, requiredScopes: [] }
    const tokenResult = await getOrObtainToken(state, {
      ...requirements,
      canRefresh: true,
      canObtainToken: () => !state.requiresUserInteraction,
    })
    if (tokenResult !== undefined) await state.storedCredentials.store(url, endpoint, tokenResult.token)
    return tokenResult
  }
  try {
    const tokenResult = await state.sharedRequests.join(`renew ${url.href}`, { scopes: [], signal }, requestRenewal)
    // Without a refresh token, the server's challenge names the scopes of a new login.
    return tokenResult?.token ?? token
  } catch (error) {
    const hasTokenExpired = token.expiresAt !== undefined && token.expiresAt <= state.now()
    if (isAuthError(error) && error.code === 'server_unavailable' && !hasTokenExpired) return token
    throw error
  }
}

async function handleUnauthorized(
  state: AuthorizerState,
  head: HttpResponseHead,
  target: HttpTarget,
): Promise<'retry' | undefined> {
  const header = head.header('www-authenticate')
  if (!mayAskForToken(header)) return undefined
  const callState = state.callStateOf(target)
  const credential = state.storedCredentials.peek(target.url)
  if (credential?.token.thumbprint !== undefined && credential.token.access === callState.lastSentToken) {
    const decision = handleProofError(state, head, target)
    if (decision !== undefined) return decision
  }
  // Another call has obtained a newer token meanwhile.
  if (credential !== undefined && credential.token.access !== callState.lastSentToken) return 'retry'
  if (callState.obtainedBy === 'authorization') {
    const message = `${target.url.origin} refuses the token that was issued for it a moment ago`
    throw new AuthError('token_refused', message, { issuer: credential?.endpoint.issuer })
  }
  return getToken(state, target, {
    challenge: parseTokenChallenge(header),
    canRefresh: callState.obtainedBy !== 'refresh',
  })
}

/**
 * Handles a 401 that is about the proof and not the token, for which no new token helps (RFC 9449, sections 7.1 and 9).
 */
function handleProofError(
  { dpop, callStateOf }: AuthorizerState,
  head: HttpResponseHead,
  target: HttpTarget,
): 'retry' | undefined {
  const error = findDpopError(head.header('www-authenticate'))
  if (error !== 'use_dpop_nonce' && error !== 'invalid_dpop_proof') return undefined
  const { origin } = target.url
  const callState = callStateOf(target)
  if (error === 'invalid_dpop_proof') {
    const message = `${origin} refuses the DPoP proof: the clock must be right, and the address one without redirects`
    throw new AuthError('token_refused', message, { error })
  }
  const isNonceOffered = head.header('dpop-nonce') !== undefined && dpop?.nonceOf('resource', target.url) !== undefined
  if (isNonceOffered && callState.nonceRetryToken !== callState.lastSentToken) {
    if (callState.lastSentToken !== undefined) callState.nonceRetryToken = callState.lastSentToken
    return 'retry'
  }
  const problem = isNonceOffered ? 'refuses the nonce that it gave a moment ago' : 'asks for a nonce and gives none'
  throw new AuthError('token_refused', `${origin} ${problem}`, { error })
}

// basic/authorization, scope challenge handling: a refresh brings no scopes, so a person is asked again.
async function handleForbidden(
  state: AuthorizerState,
  head: HttpResponseHead,
  target: HttpTarget,
): Promise<'retry' | undefined> {
  const challenge = parseTokenChallenge(head.header('www-authenticate'))
  const callState = state.callStateOf(target)
  if (
    challenge.error !== 'insufficient_scope' ||
    challenge.scopes === undefined ||
    callState.lastSentToken === undefined
  )
    return undefined
  const credential = state.storedCredentials.peek(target.url)
  if (hasNewerToken(challenge.scopes, credential, callState.lastSentToken)) return 'retry'
  // A person may grant more the second time. A machine gets the same again.
  if (!state.requiresUserInteraction && challenge.scopes.every((scope) => credential?.token.requested.includes(scope)))
    return undefined
  const operation = `${target.url.href} ${target.operation ?? ''}`
  return getToken(state, target, {
    challenge,
    canRefresh: false,
    isStepUpAllowed: () => state.stepUpLimiter.tryAcquire(operation),
  })
}

function hasNewerToken(
  scopes: readonly string[],
  credential: StoredCredential | undefined,
  sentToken: string,
): boolean {
  return (
    credential !== undefined &&
    credential.token.access !== sentToken &&
    scopes.every((scope) => credential.token.requested.includes(scope))
  )
}

/** A challenge to a call, and the allowed ways to meet it. */
interface GetTokenOptions {
  readonly challenge: TokenChallenge
  readonly canRefresh: boolean
  /** Called before a login of a person. */
  readonly isStepUpAllowed?: () => boolean
}

async function getToken(
  state: AuthorizerState,
  target: HttpTarget,
  { challenge, canRefresh, isStepUpAllowed = () => true }: GetTokenOptions,
): Promise<'retry' | undefined> {
  const callState = state.callStateOf(target)
  const { url: endpoint, signal } = target
  const canObtainToken = (): boolean =>
    callState.authorizationCount < maxAuthorizations &&
    isStepUpAllowed() &&
    (!state.requiresUserInteraction || state.loginLimiter.tryAcquire(endpoint.href))
  const query = { endpoint, challenge, rejectedToken: callState.lastSentToken, canRefresh, canObtainToken }
  for (;;) {
    let isOwnAttempt = false
    const tokenResult = await state.sharedRequests.join(
      endpoint.href,
      { scopes: challenge.scopes ?? [], signal },
      (sharedSignal) => {
        isOwnAttempt = true
        return authorize(state, query, sharedSignal)
      },
    )
    if (tokenResult !== undefined && tokenResult.token.access !== callState.lastSentToken) {
      callState.obtainedBy = tokenResult.obtainedBy
      if (tokenResult.obtainedBy === 'authorization') callState.authorizationCount += 1
      return 'retry'
    }
    // The outcome of another call, or of an earlier attempt, does not apply to this call.
    if (isOwnAttempt) return undefined
  }
}
