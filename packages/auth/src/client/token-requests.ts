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

/** Tokens that a token endpoint granted. */
export interface TokenGrant {
  readonly accessToken: string
  readonly refreshToken: string | undefined
  readonly expiresInMs: number | undefined
  /** The thumbprint of the key that the access token is bound to. */
  readonly thumbprint: string | undefined
}

const refreshBeforeExpiryMs = 30_000

/** The members of a stored token that its grant determines. */
export function toStoredToken(grant: TokenGrant, now: number): Omit<StoredToken, 'requested' | 'clientId'> {
  const { accessToken, refreshToken, thumbprint } = grant
  return { access: accessToken, refresh: refreshToken, thumbprint, ...computeExpiryTimes(grant, now) }
}

/**
 * Returns the expiry of the token and the time of its renewal in milliseconds since 1970. Both are undefined when the
 * server did not report a lifetime.
 */
function computeExpiryTimes(
  { expiresInMs: lifetimeMs }: TokenGrant,
  now: number,
): Pick<StoredToken, 'expiresAt' | 'renewAt'> {
  if (lifetimeMs === undefined) return { expiresAt: undefined, renewAt: undefined }
  // A token with a lifetime of less than a minute is renewed after half of it.
  return { expiresAt: now + lifetimeMs, renewAt: now + Math.max(lifetimeMs - refreshBeforeExpiryMs, lifetimeMs / 2) }
}

/** Parameters with which an authorization code is exchanged. */
export interface CodeExchange extends AuthenticatedClient {
  /** The response, its state and issuer checked. */
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

/** Asks for new tokens with a refresh token (RFC 6749, section 6). */
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

/** Parameters of a grant without an authorization response. */
export interface GrantRequest {
  readonly grantType: string
  readonly fields: Readonly<Record<string, string>>
}

/** Asks for a token with another grant (RFC 6749, sections 4.4 and 4.5). */
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

/** Exchanges a token for one of the type that `fields` asks for (RFC 8693), which is no access token. */
export async function exchangeToken(
  serverContext: AuthServerContext,
  { client, auth }: AuthenticatedClient,
  fields: Readonly<Record<string, string>>,
): Promise<string> {
  const { server } = serverContext
  const grantType = 'urn:ietf:params:oauth:grant-type:token-exchange'
  const grant = await runGrantRequest(serverContext, async () => {
    const response = await oauth.genericTokenEndpointRequest(
      server,
      client,
      auth,
      grantType,
      fields,
      createRequestOptions(serverContext, sendWithProof),
    )
    // RFC 8693, section 2.2.1: a token that is no access token has the type N_A.
    const recognizedTokenTypes = { n_a: () => {} }
    const result = await oauth.processGenericTokenEndpointResponse(server, client, response, { recognizedTokenTypes })
    if (result['issued_token_type'] === fields['requested_token_type']) return result
    throw new Error('the token is not of the type that was asked for')
  })
  return grant.accessToken
}

function createResourceFields(resource: string | undefined): Record<string, string> {
  return resource === undefined ? {} : { resource }
}

/** Sends a request for a token and returns what was granted. Throws {@link AuthError} `token_rejected`. */
async function runGrantRequest(
  serverContext: AuthServerContext,
  run: () => Promise<oauth.TokenEndpointResponse>,
): Promise<TokenGrant> {
  try {
    const response = await retryWithNonce(serverContext, run)
    const { access_token: accessToken, refresh_token: refreshToken, expires_in: expiresInSeconds } = response
    // RFC 6750, section 2.1: anything else could not be sent in a header.
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

/** Runs a request, and runs it a second time with the nonce that the server wants in the proof (RFC 9449, section 8). */
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

/** Sends a form to the token endpoint, with a proof of its own where tokens are bound to a key. */
const sendWithProof: SendForm = async (serverContext, address, request) => {
  const { dpop } = serverContext
  if (dpop === undefined) return sendForm(serverContext, address, request)
  const url = new URL(address)
  const proof = await dpop.createProof({ nonceSource: 'authorization', url, method: request.method })
  const response = await sendForm(serverContext, address, { ...request, headers: { ...request.headers, dpop: proof } })
  dpop.rememberNonce('authorization', url, response.headers.get('dpop-nonce'))
  return response
}
