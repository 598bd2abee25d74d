import * as oauth from 'oauth4webapi'
import { AuthError, quoteText } from './auth-error.ts'
import {
  toRejectionError,
  createRequestOptions,
  sendForm,
  type SendForm,
  type AuthenticatedClient,
  type AuthServerContext,
} from './server-requests.ts'
import type { StoredToken } from './stored.ts'

/** The tokens that a token endpoint has granted. */
export interface TokenGrant {
  readonly accessToken: string
  readonly refreshToken: string | undefined
  readonly expiresInMs: number | undefined
  /** The thumbprint of the key to which the access token is bound. */
  readonly thumbprint: string | undefined
}

const refreshBeforeExpiryMs = 30_000

/** Returns the members of a stored token that come from the grant. */
export function toStoredToken(grant: TokenGrant, now: number): Omit<StoredToken, 'requested' | 'clientId'> {
  const { accessToken, refreshToken, thumbprint } = grant
  return { access: accessToken, refresh: refreshToken, thumbprint, ...computeExpiryTimes(grant, now) }
}

/**
 * Returns the expiry of a token and the time of its renewal, in milliseconds since 1970. Returns undefined for both if
 * the server did not report a lifetime.
 */
function computeExpiryTimes(
  { expiresInMs: lifetimeMs }: TokenGrant,
  now: number,
): Pick<StoredToken, 'expiresAt' | 'renewAt'> {
  if (lifetimeMs === undefined) return { expiresAt: undefined, renewAt: undefined }
  // A token with a lifetime of less than a minute is renewed after half of its lifetime.
  return { expiresAt: now + lifetimeMs, renewAt: now + Math.max(lifetimeMs - refreshBeforeExpiryMs, lifetimeMs / 2) }
}

/** The parameters of the exchange of an authorization code. */
export interface CodeExchange extends AuthenticatedClient {
  /** The parameters of the authorization response, after its state and issuer were checked. */
  readonly params: URLSearchParams
  readonly redirectUri: string
  readonly verifier: string
  readonly resource: string | undefined
}

/** Exchanges an authorization code for tokens (RFC 6749, section 4.1.3). */
export function exchangeCode(serverContext: AuthServerContext, codeExchange: CodeExchange): Promise<TokenGrant> {
  const { server } = serverContext
  const { client, auth, params, redirectUri, verifier, resource } = codeExchange
  const options = {
    ...createRequestOptions(serverContext, sendWithProof),
    additionalParameters: createResourceFields(resource),
  }
  return runGrantRequest(serverContext, async () => {
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      auth,
      params,
      redirectUri,
      verifier,
      options,
    )
    return oauth.processAuthorizationCodeResponse(server, client, response)
  })
}

/** Requests new tokens with a refresh token (RFC 6749, section 6). */
export function requestRefreshGrant(
  serverContext: AuthServerContext,
  { client, auth }: AuthenticatedClient,
  params: { readonly refreshToken: string; readonly resource: string | undefined },
): Promise<TokenGrant> {
  const { server } = serverContext
  const options = {
    ...createRequestOptions(serverContext, sendWithProof),
    additionalParameters: createResourceFields(params.resource),
  }
  return runGrantRequest(serverContext, async () => {
    const response = await oauth.refreshTokenGrantRequest(server, client, auth, params.refreshToken, options)
    return oauth.processRefreshTokenResponse(server, client, response)
  })
}

/** The parameters of a grant that needs no login of a person. */
export interface GrantRequest {
  readonly grantType: string
  readonly fields: Readonly<Record<string, string>>
}

/** Requests a token with any other grant type (RFC 6749, sections 4.4 and 4.5). */
export function requestGrant(
  serverContext: AuthServerContext,
  { client, auth }: AuthenticatedClient,
  { grantType, fields }: GrantRequest,
): Promise<TokenGrant> {
  const { server } = serverContext
  return runGrantRequest(serverContext, async () => {
    const response = await oauth.genericTokenEndpointRequest(
      server,
      client,
      auth,
      grantType,
      fields,
      createRequestOptions(serverContext, sendWithProof),
    )
    return oauth.processGenericTokenEndpointResponse(server, client, response)
  })
}

/** Returns the URN of a token type (RFC 8693, section 3, and the draft of the identity assertion grant). */
export const tokenTypeUrnOf = (name: string): string => `urn:ietf:params:oauth:token-type:${name}`

/** Exchanges a token for a token of the type that `fields` requests (RFC 8693). */
export function exchangeToken(
  serverContext: AuthServerContext,
  { client, auth }: AuthenticatedClient,
  fields: Readonly<Record<string, string>> & { readonly requested_token_type: string },
): Promise<TokenGrant> {
  const { server } = serverContext
  const grantType = 'urn:ietf:params:oauth:grant-type:token-exchange'
  const { requested_token_type: requestedType } = fields
  return runGrantRequest(serverContext, async () => {
    const response = await oauth.genericTokenEndpointRequest(
      server,
      client,
      auth,
      grantType,
      fields,
      createRequestOptions(serverContext, sendWithProof),
    )
    // RFC 8693, section 2.2.1: the `token_type` of a token that is not an access token is `N_A`.
    const options = requestedType === tokenTypeUrnOf('access_token') ? {} : { recognizedTokenTypes: { n_a: () => {} } }
    const result = await oauth.processGenericTokenEndpointResponse(server, client, response, options)
    if (result['issued_token_type'] === requestedType) return result
    throw new Error('the token is not of the type that was asked for')
  })
}

function createResourceFields(resource: string | undefined): Record<string, string> {
  return resource === undefined ? {} : { resource }
}

/** Sends a request for a token, and returns the granted tokens. Throws {@link AuthError} `token_rejected`. */
async function runGrantRequest(
  serverContext: AuthServerContext,
  run: () => Promise<oauth.TokenEndpointResponse>,
): Promise<TokenGrant> {
  try {
    const response = await retryWithNonce(serverContext, run)
    const { access_token: accessToken, refresh_token: refreshToken, expires_in: expiresInSeconds } = response
    // RFC 6750, section 2.1: a token with other characters could not be sent in a header.
    if (!/^[\x21-\x7e]+$/.test(accessToken)) throw new Error('the access token is no token')
    const thumbprint = await resolveBoundThumbprint(serverContext, response.token_type)
    return {
      accessToken,
      refreshToken,
      thumbprint,
      expiresInMs: expiresInSeconds === undefined ? undefined : expiresInSeconds * 1000,
    }
  } catch (error) {
    throw await toRejectionError(error, serverContext.server.issuer)
  }
}

/**
 * Runs a request. If the server requires a nonce in the proof, runs the request a second time with the nonce (RFC 9449,
 * section 8).
 */
async function retryWithNonce<T>({ server, dpop }: AuthServerContext, run: () => Promise<T>): Promise<T> {
  const { token_endpoint: endpoint } = server
  if (dpop === undefined || endpoint === undefined) return run()
  const url = new URL(endpoint)
  const sentNonce = dpop.nonceOf('authorization', url)
  try {
    return await run()
  } catch (error) {
    if (!oauth.isDPoPNonceError(error) || dpop.nonceOf('authorization', url) === sentNonce) throw error
    return run()
  }
}

async function resolveBoundThumbprint(
  { server, dpop }: AuthServerContext,
  tokenType: string,
): Promise<string | undefined> {
  if (tokenType === 'dpop') {
    if (dpop === undefined) throw new Error('the access token is bound to a key that is not known here')
    return dpop.getThumbprint()
  }
  if (!dpop?.isRequired) return undefined
  const message = `The authorization server ${quoteText(server.issuer)} issued a token that is not bound to the key`
  throw new AuthError('dpop_unsupported', message, { issuer: server.issuer })
}

/** Sends a form to the token endpoint. If tokens are bound to a key, the request contains a new proof. */
const sendWithProof: SendForm = async (serverContext, address, request) => {
  const { dpop } = serverContext
  if (dpop === undefined) return sendForm(serverContext, address, request)
  const url = new URL(address)
  const proof = await dpop.createProof({ nonceSource: 'authorization', url, method: request.method })
  const response = await sendForm(serverContext, address, { ...request, headers: { ...request.headers, dpop: proof } })
  dpop.rememberNonce('authorization', url, response.headers.get('dpop-nonce'))
  return response
}
