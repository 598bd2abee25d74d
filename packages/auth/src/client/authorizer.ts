/*
 * The sequence of a call without a valid token. Each step has one name:
 *
 *   headers                 the call is sent with the stored token. `renewToken` replaces a token that expires soon
 *   onResponse, 401         handleUnauthorized reads the challenge. 403 with `insufficient_scope`: handleForbidden
 *     answerChallenge       obtains a token for the call. Calls that need the same scopes share one attempt
 *       authorize           discovers the resource and its authorization server, and chooses the scopes
 *         acquireToken      under a lock: the stored token, refreshStoredToken, or else requestGrant
 *           requestGrant    a new token by the OAuth grant of this authorizer: a login of a person, or a machine's
 *   'retry'                 the transport sends the call again, from the first line
 *
 * `login` begins at `authorize`, before any request. `renewToken` begins at `acquireToken`.
 */
import type { HttpAuthorizer, HttpHeaders, HttpResponseHead, HttpTarget } from '@x/transport-http/client'
import { type FetchFunction, platformFetch } from '../bounded-fetch.ts'
import { AuthError, isAuthError } from './auth-error.ts'
import {
  authorize,
  type AuthorizerDeps,
  type AuthServerContextResolver,
  createAuthServerContextResolver,
  firstChallenge,
} from './authorize.ts'
import { acceptsDpop, findDpopError, mayAskForToken, parseTokenChallenge, type TokenChallenge } from './challenges.ts'
import { createSharedRequests, type SharedRequests } from './coalesced-requests.ts'
import type { DpopBinding } from './dpop-binding.ts'
import { OpenLogins } from './open-logins.ts'
import { type AuthStore, memoryAuthStore } from './store.ts'
import { type StoredCredential, StoredCredentials } from './stored-credentials.ts'
import { openRecords, type StoredToken } from './stored.ts'
import { acquireToken, isRenewalDue, type TokenResult } from './token-source.ts'

/** Options that every authorizer of this package has. */
export interface AuthorizerOptions {
  /** Binds tokens to a key, as `dpop()` of `@x/auth/dpop` does. By default they are bearer tokens. */
  readonly dpop?: DpopBinding | undefined
  /** Keeps the logins and tokens of one client and one person. Default: {@link memoryAuthStore}. */
  readonly store?: AuthStore | undefined
  /** Sends requests for metadata and tokens. Default: the platform's `fetch`. */
  readonly fetch?: FetchFunction | undefined
  /** Default: the platform's clock. */
  readonly runtime?: { readonly now?: (() => number) | undefined } | undefined
}

export function resolveAuthorizerDeps(
  options: AuthorizerOptions,
): Pick<AuthorizerDeps, 'records' | 'fetch' | 'now' | 'dpop' | 'openLogins'> {
  const { store, fetch = platformFetch, runtime } = options
  // oxlint-disable-next-line no-restricted-properties -- the default of a value that tests replace
  const now = runtime?.now ?? Date.now
  const records = openRecords(store ?? memoryAuthStore())
  return {
    records,
    fetch,
    now,
    openLogins: new OpenLogins(),
    dpop: options.dpop?.createDpop({ store: records.store, isStored: store !== undefined, now }),
  }
}

interface AttemptLimiter {
  tryAcquire(key: string): boolean
}

const attemptWindowMs = 300_000
// limit: repeated scopes | count | logins for more scopes of one operation in five minutes | the call is rejected
const maxStepUpsPerOperation = 2
// limit: repeated logins | count | logins at one endpoint in five minutes | the call is rejected
const maxLoginsPerEndpoint = 8
const maxAttemptKeys = 1000

// basic/authorization, step-up flow: a server that asks for more scopes after each login must not cause endless logins.
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

/** What a transport needs of an authorizer, and what logins need of it. */
export interface Authorizer extends HttpAuthorizer {
  readonly storedCredentials: StoredCredentials
  readonly resolveServerContext: AuthServerContextResolver
  /** Obtains a token before any request to the endpoint. */
  login(endpoint: URL, signal: AbortSignal, options?: LoginOptions): Promise<void>
  /** Ends the running login at an endpoint. Its callers reject with `login_ended`. */
  endLogin(endpoint: URL): void
}

/** For a login that begins without a challenge of the endpoint. */
export interface LoginOptions {
  /** Default: the scopes of the challenge that the first call would get. */
  readonly scopes?: readonly string[] | undefined
  /** The endpoint has refused the stored token, so it must be replaced. Default: false. */
  readonly replacesToken?: boolean | undefined
  /** The token is used once, so no refresh token is requested. Default: false. */
  readonly isOneTime?: boolean | undefined
}

interface CallState {
  lastSentToken?: string
  obtainedBy?: TokenResult['obtainedBy']
  grantCount: number
  nonceRetryToken?: string
}

interface AuthorizerState extends AuthorizerDeps {
  readonly storedCredentials: StoredCredentials
  readonly resolveServerContext: AuthServerContextResolver
  readonly sharedRequests: SharedRequests<TokenResult | undefined>
  readonly stepUpLimiter: AttemptLimiter
  readonly loginLimiter: AttemptLimiter
  readonly callStateOf: (target: HttpTarget) => CallState
}

const maxGrants = 3

/** `deps.requestGrant` obtains new tokens. */
export function createAuthorizer(deps: AuthorizerDeps): Authorizer {
  const callStates = new WeakMap<HttpTarget, CallState>()
  const state: AuthorizerState = {
    ...deps,
    storedCredentials: new StoredCredentials(deps),
    resolveServerContext: createAuthServerContextResolver(deps),
    sharedRequests: createSharedRequests(),
    stepUpLimiter: createAttemptLimiter(deps.now, maxStepUpsPerOperation),
    loginLimiter: createAttemptLimiter(deps.now, maxLoginsPerEndpoint),
    callStateOf: (target) => {
      const callState = callStates.get(target) ?? { grantCount: 0 }
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
    endLogin: ({ href }) => {
      for (const key of [href, toRenewalKey(href)]) sharedRequests.end(key, 'the user logged out')
    },
    login: async (endpoint, signal, { scopes, replacesToken = false, isOneTime } = {}) => {
      const rejectedToken = replacesToken ? (await storedCredentials.load(endpoint))?.token.access : undefined
      const canRefresh = !replacesToken
      await sharedRequests.join(endpoint.href, { scopes: [], signal }, async (sharedSignal) => {
        const challenge = await firstChallenge(deps, endpoint, { scopes, signal: sharedSignal })
        const query = { endpoint, challenge, rejectedToken, canRefresh, canRequestGrant: () => true, isOneTime }
        return authorize(state, query, sharedSignal)
      })
    },
  }
}

async function obtainGiven(state: AuthorizerState, { url, signal }: HttpTarget): Promise<StoredCredential | undefined> {
  if (state.givenResource === undefined) return undefined
  const challenge = { metadataUrl: undefined, scopes: undefined, error: undefined }
  const query = { endpoint: url, challenge, rejectedToken: undefined, canRefresh: true, canRequestGrant: () => true }
  await state.sharedRequests.join(url.href, { scopes: [], signal }, (shared) => authorize(state, query, shared))
  return state.storedCredentials.load(url)
}

const toRenewalKey = (href: string): string => `renew ${href}`

async function createTokenHeaders(state: AuthorizerState, target: HttpTarget): Promise<HttpHeaders> {
  const credential = (await state.storedCredentials.load(target.url)) ?? (await obtainGiven(state, target))
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

/**
 * With these errors of a renewal, the authorization server cannot be used, and the resource may have moved to another
 * one.
 */
const lostServerCodes: ReadonlySet<string> = new Set([
  'server_unavailable',
  'metadata_invalid',
  'issuer_mismatch',
  'unsafe_url',
])

/**
 * Renews a token that expires soon. If its authorization server cannot be used, the old one is returned: once it has
 * expired, the endpoint answers with a challenge, whose metadata name the authorization server anew.
 */
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
    const tokenResult = await acquireToken(state, {
      ...requirements,
      canRefresh: true,
      canRequestGrant: () => !state.requiresUserInteraction,
    })
    if (tokenResult !== undefined) await state.storedCredentials.store(url, endpoint, tokenResult.token)
    return tokenResult
  }
  try {
    const tokenResult = await state.sharedRequests.join(toRenewalKey(url.href), { scopes: [], signal }, requestRenewal)
    // If the refresh failed, the old token is sent: the server refuses it with a challenge that names the scopes for a
    // new login.
    return tokenResult?.token ?? token
  } catch (error) {
    if (isAuthError(error) && lostServerCodes.has(error.code)) return token
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
  // Another call has obtained a newer token since this call was sent.
  if (credential !== undefined && credential.token.access !== callState.lastSentToken) return 'retry'
  if (callState.obtainedBy === 'grant') return handleRefusedGrant(state, head, target)
  const canRefresh = callState.obtainedBy !== 'refresh'
  return answerChallenge(state, target, parseTokenChallenge(header), { canRefresh })
}

async function handleRefusedGrant(
  state: AuthorizerState,
  head: HttpResponseHead,
  target: HttpTarget,
): Promise<'retry' | undefined> {
  const header = head.header('www-authenticate')
  const credential = state.storedCredentials.peek(target.url)
  // A server that accepts no bound tokens says no more than that the token is invalid, and would say so for ever.
  if (credential?.token.thumbprint !== undefined && !acceptsDpop(header)) {
    await state.storedCredentials.markDpopRefused(target.url)
    return answerChallenge(state, target, parseTokenChallenge(header), { canRefresh: false })
  }
  const message = `${target.url.origin} refuses the token that was issued for it a moment ago`
  throw new AuthError('token_refused', message, { issuer: credential?.endpoint.issuer })
}

/** RFC 9449, sections 7.1 and 9: the proof was refused and not the token, so a new token would not help. */
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

// basic/authorization, scope challenge handling: a refresh adds no scopes, so a new authorization is needed.
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
  // A person who is asked again may grant more. A machine would get the same scopes again.
  if (!state.requiresUserInteraction && challenge.scopes.every((scope) => credential?.token.requested.includes(scope)))
    return undefined
  const operation = `${target.url.href} ${target.operation ?? ''}`
  return answerChallenge(state, target, challenge, {
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

/** Undefined if the call must not be sent again. `isStepUpAllowed` is asked before a new authorization. */
async function answerChallenge(
  state: AuthorizerState,
  target: HttpTarget,
  challenge: TokenChallenge,
  {
    canRefresh,
    isStepUpAllowed = () => true,
  }: { readonly canRefresh: boolean; readonly isStepUpAllowed?: () => boolean },
): Promise<'retry' | undefined> {
  const callState = state.callStateOf(target)
  const { url: endpoint, signal } = target
  const canRequestGrant = (): boolean =>
    callState.grantCount < maxGrants &&
    isStepUpAllowed() &&
    (!state.requiresUserInteraction || state.loginLimiter.tryAcquire(endpoint.href))
  const query = { endpoint, challenge, rejectedToken: callState.lastSentToken, canRefresh, canRequestGrant }
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
      if (tokenResult.obtainedBy === 'grant') callState.grantCount += 1
      return 'retry'
    }
    // The result of another call's authorization says nothing about this call, so it begins its own.
    if (isOwnAttempt) return undefined
  }
}
