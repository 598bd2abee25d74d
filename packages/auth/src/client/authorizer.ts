import type { HttpAuthorizer, HttpHeaders, HttpResponseHead, HttpTarget } from '@x/transport-http/client'
import { AuthError, isAuthError } from './auth-error.ts'
import { authorize, type AuthorizerDeps, createLinks, type LinkToServer } from './authorize.ts'
import { type TokenDemand, demandOf, dpopErrorOf, isForToken } from './challenges.ts'
import { createSharedRequests, type SharedRequests } from './flights.ts'
import { createStoredCredentials, type StoredCredential, type StoredCredentials } from './stored-credentials.ts'
import { createStepUps, type StepUps } from './step-ups.ts'
import type { StoredToken } from './stored.ts'
import { endsSoon, type Obtained, tokenFor } from './token-source.ts'

/** An authorizer, and what logins need of it besides. */
export interface Authorizer extends HttpAuthorizer {
  readonly tokens: StoredCredentials
  readonly linkTo: LinkToServer
  /** Gets a token for an endpoint without a request to it. */
  login(endpoint: URL, signal: AbortSignal): Promise<void>
}

/** State of one call across its attempts. */
interface CallState {
  /** The access token that it was sent with last. */
  sent?: string
  by?: Obtained['obtainedBy']
  authorizations: number
  /** The access token for which a nonce was taken. */
  nonceFor?: string
}

interface AuthorizerState extends AuthorizerDeps {
  readonly tokens: StoredCredentials
  readonly linkTo: LinkToServer
  readonly flights: SharedRequests<Obtained | undefined>
  readonly stepUps: StepUps
  readonly callOf: (target: HttpTarget) => CallState
}

const maxAuthorizations = 3

/** Makes an authorizer from a way to obtain tokens. */
export function createAuthorizer(deps: AuthorizerDeps): Authorizer {
  const calls = new WeakMap<HttpTarget, CallState>()
  const state: AuthorizerState = {
    ...deps,
    tokens: createStoredCredentials(deps),
    linkTo: createLinks(deps),
    flights: createSharedRequests(),
    stepUps: createStepUps(deps.now),
    callOf: (target) => {
      const call = calls.get(target) ?? { authorizations: 0 }
      calls.set(target, call)
      return call
    },
  }
  const { tokens, linkTo, flights } = state
  return {
    tokens,
    linkTo,
    headers: (target) => tokenHeaders(state, target),
    onResponse: (head, target) => {
      deps.dpop?.takeNonce('resource', target.url, head.header('dpop-nonce'))
      if (head.status === 401) return answerUnauthorized(state, head, target)
      return head.status === 403 ? answerForbidden(state, head, target) : undefined
    },
    login: async (endpoint, signal) => {
      const demand = { metadataUrl: undefined, scopes: undefined, error: undefined }
      const query = { endpoint, demand, rejectedToken: undefined, canRefresh: true, canObtain: () => true }
      await flights.join(endpoint.href, { scopes: [], signal }, (ends) => authorize(state, query, ends))
    },
  }
}

async function tokenHeaders(state: AuthorizerState, target: HttpTarget): Promise<HttpHeaders> {
  const token = await state.tokens.current(target.url)
  if (token === undefined) return {}
  const isRenewable = token.token.refresh !== undefined || !state.needsPerson
  const isOld = isRenewable && endsSoon(token.token, state.now())
  const { access, thumbprint } = isOld ? await renewed(state, token, target) : token.token
  state.callOf(target).sent = access
  if (thumbprint === undefined || state.dpop === undefined) return { authorization: `Bearer ${access}` }
  const { requestUrl: url = target.url, method } = target
  return { authorization: `DPoP ${access}`, dpop: await state.dpop.proof({ from: 'resource', url, method, access }) }
}

/** Renews a token that ends soon. One that has not ended yet is used while the authorization server is away. */
async function renewed(
  state: AuthorizerState,
  current: StoredCredential,
  { url, signal }: HttpTarget,
): Promise<StoredToken> {
  const { endpoint, token } = current
  const renew = async (ends: AbortSignal): Promise<Obtained | undefined> => {
    const link = await state.linkTo(endpoint.issuer, url, ends)
    const need = { endpoint: url, link, resource: endpoint.resource, scopes: endpoint.requested, demanded: [] }
    const obtained = await tokenFor(state, { ...need, canRefresh: true, canObtain: () => !state.needsPerson })
    if (obtained !== undefined) await state.tokens.store(url, endpoint, obtained.token)
    return obtained
  }
  try {
    const obtained = await state.flights.join(`renew ${url.href}`, { scopes: [], signal }, renew)
    // Without a refresh token, the server's challenge says what a new login needs.
    return obtained?.token ?? token
  } catch (error) {
    const isOver = token.expiresAt !== undefined && token.expiresAt <= state.now()
    if (isAuthError(error) && error.code === 'server_unavailable' && !isOver) return token
    throw error
  }
}

async function answerUnauthorized(
  state: AuthorizerState,
  head: HttpResponseHead,
  target: HttpTarget,
): Promise<'retry' | undefined> {
  const header = head.header('www-authenticate')
  if (!isForToken(header)) return undefined
  const call = state.callOf(target)
  const token = state.tokens.peek(target.url)
  if (token?.token.thumbprint !== undefined && token.token.access === call.sent) {
    const decision = answerProofError(state, head, target)
    if (decision !== undefined) return decision
  }
  // Another call has got a newer token meanwhile.
  if (token !== undefined && token.token.access !== call.sent) return 'retry'
  if (call.by === 'authorization') {
    const message = `${target.url.origin} refuses the token that was issued for it a moment ago`
    throw new AuthError('token_refused', message, { issuer: token?.endpoint.issuer })
  }
  return getToken(state, target, { demand: demandOf(header), canRefresh: call.by !== 'refresh' })
}

/** Answers a 401 that is about the proof and not the token, for which no new token helps (RFC 9449, sections 7.1 and 9). */
function answerProofError(
  { dpop, callOf }: AuthorizerState,
  head: HttpResponseHead,
  target: HttpTarget,
): 'retry' | undefined {
  const error = dpopErrorOf(head.header('www-authenticate'))
  if (error !== 'use_dpop_nonce' && error !== 'invalid_dpop_proof') return undefined
  const { origin } = target.url
  const call = callOf(target)
  if (error === 'invalid_dpop_proof') {
    const message = `${origin} refuses the DPoP proof: the clock must be right, and the address one without redirects`
    throw new AuthError('token_refused', message, { error })
  }
  const isOffered = head.header('dpop-nonce') !== undefined && dpop?.nonceOf('resource', target.url) !== undefined
  if (isOffered && call.nonceFor !== call.sent) {
    if (call.sent !== undefined) call.nonceFor = call.sent
    return 'retry'
  }
  const why = isOffered ? 'refuses the nonce that it gave a moment ago' : 'asks for a nonce and gives none'
  throw new AuthError('token_refused', `${origin} ${why}`, { error })
}

// basic/authorization, scope challenge handling: a refresh brings no scopes, so a person is asked again.
async function answerForbidden(
  state: AuthorizerState,
  head: HttpResponseHead,
  target: HttpTarget,
): Promise<'retry' | undefined> {
  const demand = demandOf(head.header('www-authenticate'))
  const call = state.callOf(target)
  if (demand.error !== 'insufficient_scope' || demand.scopes === undefined || call.sent === undefined) return undefined
  const token = state.tokens.peek(target.url)
  if (hasNewerFor(demand.scopes, token, call.sent)) return 'retry'
  // A person may grant more the second time; a machine gets the same again.
  if (!state.needsPerson && demand.scopes.every((one) => token?.token.requested.includes(one))) return undefined
  const operation = `${target.url.href} ${target.operation ?? ''}`
  return getToken(state, target, { demand, canRefresh: false, isAllowed: () => state.stepUps.take(operation) })
}

function hasNewerFor(scopes: readonly string[], token: StoredCredential | undefined, sent: string): boolean {
  return (
    token !== undefined && token.token.access !== sent && scopes.every((one) => token.token.requested.includes(one))
  )
}

/** A challenge to a call, and the ways to meet it that are allowed. */
interface Ask {
  readonly demand: TokenDemand
  readonly canRefresh: boolean
  /** Asked before a person is. */
  readonly isAllowed?: () => boolean
}

async function getToken(
  state: AuthorizerState,
  target: HttpTarget,
  { demand, canRefresh, isAllowed = () => true }: Ask,
): Promise<'retry' | undefined> {
  const call = state.callOf(target)
  const { url: endpoint, signal } = target
  const canObtain = (): boolean => call.authorizations < maxAuthorizations && isAllowed()
  const query = { endpoint, demand, rejectedToken: call.sent, canRefresh, canObtain }
  for (;;) {
    let isOwn = false
    const obtained = await state.flights.join(endpoint.href, { scopes: demand.scopes ?? [], signal }, (ends) => {
      isOwn = true
      return authorize(state, query, ends)
    })
    if (obtained !== undefined && obtained.token.access !== call.sent) {
      call.by = obtained.obtainedBy
      if (obtained.obtainedBy === 'authorization') call.authorizations += 1
      return 'retry'
    }
    // The outcome of another call, or of an attempt before this one was refused, says nothing of this call.
    if (isOwn) return undefined
  }
}
