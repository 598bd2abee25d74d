import { quoteText } from '@x/core'
import * as oauth from 'oauth4webapi'
import { AuthError, isAuthError } from './auth-error.ts'
import { requireEndpoint } from './server-metadata.ts'
import {
  createRequestOptions,
  sendForm,
  type SendForm,
  type AuthenticatedClient,
  type AuthServerContext,
} from './server-requests.ts'
import type { PendingLogin, StoredToken } from './stored.ts'
import { createUnusableError, readTokenResponse, type TokenResponse } from './token-response.ts'

/** What a token endpoint has granted. */
export interface TokenGrant extends Pick<TokenResponse, 'accessToken' | 'refreshToken' | 'expiresInMs'> {
  /** Thumbprint of the key to which the access token is bound. */
  readonly thumbprint: string | undefined
}

/** So long before its end a token is renewed, or later if it lives for less than a minute. */
export const refreshBeforeExpiryMs = 30_000

export function toStoredToken(grant: TokenGrant, now: number): Omit<StoredToken, 'requested' | 'clientId'> {
  const { accessToken, refreshToken, thumbprint } = grant
  return { access: accessToken, refresh: refreshToken, thumbprint, renewAt: computeRenewalTime(grant, now) }
}

function computeRenewalTime({ expiresInMs: lifetimeMs }: TokenGrant, now: number): number | undefined {
  if (lifetimeMs === undefined) return undefined
  // With less than a minute to live, a token is renewed at half of that.
  return now + Math.max(lifetimeMs - refreshBeforeExpiryMs, lifetimeMs / 2)
}

/**
 * RFC 6749, section 4.1.3. `params` are those of the authorization response, whose state and issuer have been checked.
 */
export function exchangeCode(
  serverContext: AuthServerContext,
  { client, auth }: AuthenticatedClient,
  {
    params,
    redirectUri,
    verifier,
    resource,
  }: Pick<PendingLogin, 'redirectUri' | 'verifier'> & {
    readonly params: URLSearchParams
    readonly resource: string | undefined
  },
): Promise<TokenGrant> {
  const { server } = serverContext
  const options = createGrantOptions(serverContext, resource)
  return runGrantRequest(serverContext, () =>
    oauth.authorizationCodeGrantRequest(server, client, auth, params, redirectUri, verifier, options),
  )
}

/** RFC 6749, section 6. */
export function requestRefreshGrant(
  serverContext: AuthServerContext,
  { client, auth }: AuthenticatedClient,
  { refreshToken, resource }: { readonly refreshToken: string; readonly resource: string | undefined },
): Promise<TokenGrant> {
  const options = createGrantOptions(serverContext, resource)
  return runGrantRequest(serverContext, () =>
    oauth.refreshTokenGrantRequest(serverContext.server, client, auth, refreshToken, options),
  )
}

/**
 * Any other grant type (RFC 6749, sections 4.4 and 4.5), which needs no login of a person. `exchangedType` is the type
 * of token that an exchange asks for.
 */
export function requestGrant(
  serverContext: AuthServerContext,
  { client, auth }: AuthenticatedClient,
  {
    grantType,
    fields,
    exchangedType,
  }: {
    readonly grantType: string
    readonly fields: Readonly<Record<string, string>>
    readonly exchangedType?: string
  },
): Promise<TokenGrant> {
  const options = createRequestOptions(serverContext, sendWithProof)
  const send = (): Promise<Response> =>
    oauth.genericTokenEndpointRequest(serverContext.server, client, auth, grantType, fields, options)
  return runGrantRequest(serverContext, send, exchangedType)
}

/** RFC 8693, section 3, and the draft of the identity assertion grant. */
export const tokenTypeUrnOf = (name: string): string => `urn:ietf:params:oauth:token-type:${name}`

/** Exchanges a token for one of the type that `fields` asks for (RFC 8693). */
export function exchangeToken(
  serverContext: AuthServerContext,
  client: AuthenticatedClient,
  fields: Readonly<Record<string, string>> & { readonly requested_token_type: string },
): Promise<TokenGrant> {
  const grantType = 'urn:ietf:params:oauth:grant-type:token-exchange'
  return requestGrant(serverContext, client, { grantType, fields, exchangedType: fields.requested_token_type })
}

function createGrantOptions(
  serverContext: AuthServerContext,
  resource: string | undefined,
): oauth.TokenEndpointRequestOptions {
  const options = createRequestOptions(serverContext, sendWithProof)
  return resource === undefined ? options : { ...options, additionalParameters: { resource } }
}

async function runGrantRequest(
  serverContext: AuthServerContext,
  send: () => Promise<Response>,
  exchangedType?: string,
): Promise<TokenGrant> {
  const { issuer } = serverContext
  requireEndpoint(serverContext, 'token_endpoint')
  const rethrow = (error: unknown): never => {
    if (isAuthError(error) || serverContext.signal.aborted || !(error instanceof Error)) throw error
    throw new AuthError('token_rejected', `The request for a token could not be made: ${error.message}`, { issuer })
  }
  const read = async (): Promise<TokenResponse> => readTokenResponse(await send().catch(rethrow), issuer)
  const response = await retryWithNonce(serverContext, read)
  const { accessToken, refreshToken, expiresInMs, tokenType } = response
  if (exchangedType !== undefined && response.issuedTokenType !== exchangedType)
    throw createUnusableError(issuer, 'the token is not of the type that was asked for')
  // RFC 8693, section 2.2.1: the `token_type` of a token that is not an access token is `N_A`.
  const isNoAccessToken = exchangedType !== undefined && exchangedType !== tokenTypeUrnOf('access_token')
  const isUsable = tokenType === 'bearer' || tokenType === 'dpop' || (isNoAccessToken && tokenType === 'n_a')
  if (!isUsable) throw createUnusableError(issuer, `the token_type is ${quoteText(tokenType)}, and not "Bearer"`)
  const thumbprint = await resolveBoundThumbprint(serverContext, tokenType)
  return { accessToken, refreshToken, thumbprint, expiresInMs }
}

/** If the server wants a nonce in the proof, runs the request once more with it (RFC 9449, section 8). */
async function retryWithNonce<T>({ server, dpop }: AuthServerContext, run: () => Promise<T>): Promise<T> {
  const { token_endpoint: endpoint } = server
  if (dpop === undefined || endpoint === undefined) return run()
  const url = new URL(endpoint)
  const sentNonce = dpop.nonceOf('authorization', url)
  try {
    return await run()
  } catch (error) {
    const isNonceNeeded = isAuthError(error) && error.error === 'use_dpop_nonce'
    if (!isNonceNeeded || dpop.nonceOf('authorization', url) === sentNonce) throw error
    return run()
  }
}

async function resolveBoundThumbprint(
  { issuer, dpop }: AuthServerContext,
  tokenType: string,
): Promise<string | undefined> {
  if (tokenType === 'dpop') {
    if (dpop === undefined)
      throw createUnusableError(issuer, 'the access token is bound to a key that is not known here')
    return dpop.getThumbprint()
  }
  if (!dpop?.isRequired) return undefined
  const message = `The authorization server ${quoteText(issuer)} issued a token that is not bound to the key`
  throw new AuthError('dpop_unsupported', message, { issuer })
}

const sendWithProof: SendForm = async (serverContext, address, request) => {
  const { dpop } = serverContext
  if (dpop === undefined) return sendForm(serverContext, address, request)
  const url = new URL(address)
  const proof = await dpop.createProof({ nonceSource: 'authorization', url, method: request.method })
  const response = await sendForm(serverContext, address, { ...request, headers: { ...request.headers, dpop: proof } })
  dpop.rememberNonce('authorization', url, response.headers.get('dpop-nonce'))
  return response
}
