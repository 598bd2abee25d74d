/*
 * The sequence of a call without a valid token. Each step has one name:
 *
 *   headers                 the call is sent with the stored token. renewToken replaces a token that expires soon
 *   onResponse, 401         handleUnauthorized reads the challenge. 403 with `insufficient_scope`: handleForbidden
 *     answerChallenge       obtains a token for the call. Calls that need the same scopes share one attempt
 *       authorize           discovers the resource and its authorization server, and chooses the scopes
 *         acquireToken      under a lock: the stored token, refreshStoredToken, or else requestGrant
 *           requestGrant    a new token by the OAuth grant of this authorizer: a login of a person, or a machine's
 *   'retry'                 the transport sends the call again, from the first line
 *
 * `login` begins at `authorize`, before any request. The renewal of a token begins at `acquireToken`.
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
import { SharedRequests } from './coalesced-requests.ts'
import type { DpopBinding } from './dpop-binding.ts'
import { OpenLogins } from './open-logins.ts'
import { type AuthStore, memoryAuthStore } from './store.ts'
import { type StoredCredential, StoredCredentials } from './stored-credentials.ts'
import { openRecords, type StoredToken } from './stored.ts'
import { acquireToken, hasExpired, isRenewalDue, isRenewedSoon, type TokenResult } from './token-source.ts'

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
  showWait?: (message: string) => void,
): Pick<AuthorizerDeps, 'records' | 'fetch' | 'now' | 'dpop' | 'openLogins'> {
  const { store, fetch = platformFetch, runtime } = options
  // oxlint-disable-next-line no-restricted-properties -- the default of a value that tests replace
  const now = runtime?.now ?? Date.now
  const records = openRecords(store ?? memoryAuthStore())
  return {
    records,
    fetch,
    now,
    openLogins: new OpenLogins(showWait),
    dpop: options.dpop?.createDpop({ store: records.store, isStored: store !== undefined, now }),
  }
}

const attemptWindowMs = 300_000
// limit: repeated scopes | count | logins for more scopes of one operation in five minutes | the call is rejected
const maxStepUpsPerOperation = 2
// limit: repeated logins | count | logins at one endpoint in five minutes | the call is rejected
const maxLoginsPerEndpoint = 8
const maxAttemptKeys = 1000

// basic/authorization, step-up flow: a server that asks for more scopes after each login must not cause endless logins.
class AttemptLimiter {
  readonly #now: () => number
  readonly #maxAttempts: number
  readonly #attemptWindows = new Map<string, { readonly startedAt: number; readonly count: number }>()

  constructor(now: () => number, maxAttempts: number) {
    this.#now = now
    this.#maxAttempts = maxAttempts
  }

  tryAcquire(key: string): boolean {
    const now = this.#now()
    const attemptWindow = this.#attemptWindows.get(key)
    // A clock that was set back does not make the window longer.
    const isRecent = attemptWindow !== undefined && Math.abs(now - attemptWindow.startedAt) < attemptWindowMs
    const { startedAt, count } = isRecent ? attemptWindow : { startedAt: now, count: 0 }
    if (count >= this.#maxAttempts) return false
    if (!isRecent && this.#attemptWindows.size >= maxAttemptKeys) this.#attemptWindows.clear()
    this.#attemptWindows.set(key, { startedAt, count: count + 1 })
    return true
  }
}

interface CallState {
  lastSentToken?: string
  obtainedBy?: TokenResult['obtainedBy']
  grantCount: number
  nonceRetryToken?: string
}

const maxGrants = 3
const toRenewalKey = (href: string): string => `renew ${href}`

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

/** What a transport needs of an authorizer, and what logins need of it. */
export class Authorizer implements HttpAuthorizer {
  readonly storedCredentials: StoredCredentials
  readonly resolveServerContext: AuthServerContextResolver
  readonly #deps: Parameters<typeof authorize>[0]
  readonly #sharedRequests = new SharedRequests<TokenResult | undefined>()
  readonly #stepUpLimiter: AttemptLimiter
  readonly #loginLimiter: AttemptLimiter
  readonly #callStates = new WeakMap<HttpTarget, CallState>()

  /** `deps.requestGrant` obtains new tokens. */
  constructor(deps: AuthorizerDeps) {
    this.storedCredentials = new StoredCredentials(deps)
    this.resolveServerContext = createAuthServerContextResolver(deps)
    const { storedCredentials, resolveServerContext } = this
    this.#deps = { ...deps, storedCredentials, resolveServerContext }
    this.#stepUpLimiter = new AttemptLimiter(deps.now, maxStepUpsPerOperation)
    this.#loginLimiter = new AttemptLimiter(deps.now, maxLoginsPerEndpoint)
  }

  async headers(target: HttpTarget): Promise<HttpHeaders> {
    const { dpop, requiresUserInteraction, now } = this.#deps
    const credential = (await this.storedCredentials.load(target.url)) ?? (await this.#obtainGiven(target))
    if (credential === undefined) return {}
    const isRenewable = credential.token.refresh !== undefined || !requiresUserInteraction
    const mustRenew = isRenewable && isRenewalDue(credential.token, now())
    const { access, thumbprint } = mustRenew ? await this.#renewToken(credential, target) : credential.token
    this.#callStateOf(target).lastSentToken = access
    if (thumbprint === undefined || dpop === undefined) return { authorization: `Bearer ${access}` }
    const { requestUrl: url = target.url, method } = target
    return {
      authorization: `DPoP ${access}`,
      dpop: await dpop.createProof({ nonceSource: 'resource', url, method, accessToken: access }),
    }
  }

  onResponse(head: HttpResponseHead, target: HttpTarget): Promise<'retry' | undefined> | undefined {
    this.#deps.dpop?.rememberNonce('resource', target.url, head.header('dpop-nonce'))
    if (head.status === 401) return this.#handleUnauthorized(head, target)
    return head.status === 403 ? this.#handleForbidden(head, target) : undefined
  }

  /**
   * Obtains a token before any request to the endpoint. Default of `scopes`: those of the challenge that the first call
   * would get. `replacesToken` says that the endpoint has refused the stored token. With `isOneTime` the token is used
   * once, so no refresh token is requested.
   */
  async login(
    endpoint: URL,
    signal: AbortSignal,
    {
      scopes,
      replacesToken = false,
      isOneTime,
    }: {
      readonly scopes?: readonly string[] | undefined
      readonly replacesToken?: boolean
      readonly isOneTime?: boolean
    } = {},
  ): Promise<void> {
    const rejectedToken = replacesToken ? (await this.storedCredentials.load(endpoint))?.token.access : undefined
    const canRefresh = !replacesToken
    await this.#sharedRequests.join(endpoint.href, { scopes: [], signal }, async (sharedSignal) => {
      const challenge = await firstChallenge(this.#deps, endpoint, { scopes, signal: sharedSignal })
      const query = { endpoint, challenge, rejectedToken, canRefresh, canRequestGrant: () => true, isOneTime }
      return authorize(this.#deps, query, sharedSignal)
    })
  }

  /** Ends the running login at an endpoint. Its callers reject with `login_ended`. */
  endLogin({ href }: URL): void {
    for (const key of [href, toRenewalKey(href)]) this.#sharedRequests.end(key, 'the user logged out')
  }

  #callStateOf(target: HttpTarget): CallState {
    const callState = this.#callStates.get(target) ?? { grantCount: 0 }
    this.#callStates.set(target, callState)
    return callState
  }

  async #obtainGiven({ url, signal }: HttpTarget): Promise<StoredCredential | undefined> {
    if (this.#deps.givenResource === undefined) return undefined
    const challenge = { metadataUrl: undefined, scopes: undefined, error: undefined }
    const query = { endpoint: url, challenge, rejectedToken: undefined, canRefresh: true, canRequestGrant: () => true }
    await this.#sharedRequests.join(url.href, { scopes: [], signal }, (shared) => authorize(this.#deps, query, shared))
    return this.storedCredentials.load(url)
  }

  /**
   * Renews a token that expires soon. Until it has expired, a renewal that fails or takes long must not hold up the call,
   * so the old one is returned. It is also returned after that if its authorization server cannot be used: the endpoint
   * answers with a challenge, whose metadata name the authorization server anew.
   */
  async #renewToken(credential: StoredCredential, target: HttpTarget): Promise<StoredToken> {
    const { token } = credential
    const isEarly = !hasExpired(token, this.#deps.now())
    const renewal = this.#shareRenewal(credential, target)
    try {
      if (isEarly && !(await isRenewedSoon(renewal))) return token
      // If the refresh failed, the old token is sent: the server refuses it with a challenge that names the scopes for a
      // new login.
      return (await renewal)?.token ?? token
    } catch (error) {
      target.signal.throwIfAborted()
      const code = isAuthError(error) ? error.code : ''
      // After a logout, the token must not be sent.
      if (lostServerCodes.has(code) || (isEarly && code !== 'login_ended')) return token
      throw error
    }
  }

  /** Undefined if the authorization server has refused the refresh. */
  async #shareRenewal(credential: StoredCredential, { url, signal }: HttpTarget): Promise<TokenResult | undefined> {
    const { endpoint } = credential
    const requestRenewal = async (sharedSignal: AbortSignal): Promise<TokenResult | undefined> => {
      const serverContext = await this.resolveServerContext(endpoint.issuer, url, sharedSignal)
      const { resource, requested: scopes } = endpoint
      const requirements = { endpoint: url, serverContext, resource, scopes, requiredScopes: [] }
      const tokenResult = await acquireToken(this.#deps, {
        ...requirements,
        canRefresh: true,
        canRequestGrant: () => !this.#deps.requiresUserInteraction,
      })
      if (tokenResult !== undefined) await this.storedCredentials.store(url, endpoint, tokenResult.token)
      return tokenResult
    }
    return this.#sharedRequests.join(toRenewalKey(url.href), { scopes: [], signal }, requestRenewal)
  }

  async #handleUnauthorized(head: HttpResponseHead, target: HttpTarget): Promise<'retry' | undefined> {
    const header = head.header('www-authenticate')
    if (!mayAskForToken(header)) return undefined
    const callState = this.#callStateOf(target)
    const credential = this.storedCredentials.peek(target.url)
    if (credential?.token.thumbprint !== undefined && credential.token.access === callState.lastSentToken) {
      const decision = this.#handleProofError(head, target)
      if (decision !== undefined) return decision
    }
    // Another call has obtained a newer token since this call was sent.
    if (credential !== undefined && credential.token.access !== callState.lastSentToken) return 'retry'
    if (callState.obtainedBy === 'grant') return this.#handleRefusedGrant(head, target)
    const canRefresh = callState.obtainedBy !== 'refresh'
    return this.#answerChallenge(target, parseTokenChallenge(header), { canRefresh })
  }

  async #handleRefusedGrant(head: HttpResponseHead, target: HttpTarget): Promise<'retry' | undefined> {
    const header = head.header('www-authenticate')
    const credential = this.storedCredentials.peek(target.url)
    // A server that accepts no bound tokens says no more than that the token is invalid, and would say so for ever.
    if (credential?.token.thumbprint !== undefined && !acceptsDpop(header)) {
      await this.storedCredentials.markDpopRefused(target.url)
      return this.#answerChallenge(target, parseTokenChallenge(header), { canRefresh: false })
    }
    const message = `${target.url.origin} refuses the token that was issued for it a moment ago`
    throw new AuthError('token_refused', message, { issuer: credential?.endpoint.issuer })
  }

  /** RFC 9449, sections 7.1 and 9: the proof was refused and not the token, so a new token would not help. */
  #handleProofError(head: HttpResponseHead, target: HttpTarget): 'retry' | undefined {
    const error = findDpopError(head.header('www-authenticate'))
    if (error !== 'use_dpop_nonce' && error !== 'invalid_dpop_proof') return undefined
    const { origin } = target.url
    const callState = this.#callStateOf(target)
    if (error === 'invalid_dpop_proof') {
      const message = `${origin} refuses the DPoP proof: the clock must be right, and the address one without redirects`
      throw new AuthError('token_refused', message, { error })
    }
    const isNonceOffered =
      head.header('dpop-nonce') !== undefined && this.#deps.dpop?.nonceOf('resource', target.url) !== undefined
    if (isNonceOffered && callState.nonceRetryToken !== callState.lastSentToken) {
      if (callState.lastSentToken !== undefined) callState.nonceRetryToken = callState.lastSentToken
      return 'retry'
    }
    const problem = isNonceOffered ? 'refuses the nonce that it gave a moment ago' : 'asks for a nonce and gives none'
    throw new AuthError('token_refused', `${origin} ${problem}`, { error })
  }

  // basic/authorization, scope challenge handling: a refresh adds no scopes, so a new authorization is needed.
  async #handleForbidden(head: HttpResponseHead, target: HttpTarget): Promise<'retry' | undefined> {
    const challenge = parseTokenChallenge(head.header('www-authenticate'))
    const callState = this.#callStateOf(target)
    if (
      challenge.error !== 'insufficient_scope' ||
      challenge.scopes === undefined ||
      callState.lastSentToken === undefined
    )
      return undefined
    const credential = this.storedCredentials.peek(target.url)
    if (challenge.scopes.every((scope) => credential?.token.requested.includes(scope))) {
      if (credential?.token.access !== callState.lastSentToken) return 'retry'
      // A person who is asked again may grant more. A machine would get the same scopes again.
      if (!this.#deps.requiresUserInteraction) return undefined
    }
    const operation = `${target.url.href} ${target.operation ?? ''}`
    return this.#answerChallenge(target, challenge, {
      canRefresh: false,
      isStepUpAllowed: () => this.#stepUpLimiter.tryAcquire(operation),
    })
  }

  /** Undefined if the call must not be sent again. `isStepUpAllowed` is asked before a new authorization. */
  async #answerChallenge(
    target: HttpTarget,
    challenge: TokenChallenge,
    {
      canRefresh,
      isStepUpAllowed = () => true,
    }: { readonly canRefresh: boolean; readonly isStepUpAllowed?: () => boolean },
  ): Promise<'retry' | undefined> {
    const callState = this.#callStateOf(target)
    const { url: endpoint, signal } = target
    const canRequestGrant = (): boolean =>
      callState.grantCount < maxGrants &&
      isStepUpAllowed() &&
      (!this.#deps.requiresUserInteraction || this.#loginLimiter.tryAcquire(endpoint.href))
    const query = { endpoint, challenge, rejectedToken: callState.lastSentToken, canRefresh, canRequestGrant }
    for (;;) {
      let isOwnAttempt = false
      const tokenResult = await this.#sharedRequests.join(
        endpoint.href,
        { scopes: challenge.scopes ?? [], signal },
        (sharedSignal) => {
          isOwnAttempt = true
          return authorize(this.#deps, query, sharedSignal)
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
}
