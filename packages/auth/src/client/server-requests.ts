import { quoteText } from '@x/core'
import * as oauth from 'oauth4webapi'
import { createBasicAuth } from '../client-secret.ts'
import { AuthError } from './auth-error.ts'
import type { JsonObject } from '@x/schema'
import type { FetchFunction } from '../bounded-fetch.ts'
import { endpointTimeoutMs, fetchFromServer, readJsonObject, stringsOf } from './fetch-server.ts'
import type { Dpop } from './dpop-binding.ts'
import { requireEndpoint } from './server-metadata.ts'
import type { StoredClient } from './stored.ts'
import { createUnusableError, parseOAuthError, readServerResponse } from './token-response.ts'

/** An authorization server, and how requests are sent to it. */
export interface AuthServerContext {
  readonly server: oauth.AuthorizationServer
  /**
   * The issuer as the resource or the user names it, and as keys of stored records have it. The server's metadata may
   * spell it otherwise.
   */
  readonly issuer: string
  readonly fetch: FetchFunction
  readonly signal: AbortSignal
  /** Binds the tokens that this server issues to a key. */
  readonly dpop?: Dpop | undefined
}

/** A client, and how it authenticates at one server. */
export interface AuthenticatedClient {
  readonly client: oauth.Client
  readonly auth: oauth.ClientAuth
}

const authMethods = ['client_secret_basic', 'client_secret_post', 'none']

/**
 * Chooses how a client authenticates: by its registered method, else by the first that both sides support (RFC 8414,
 * section 2).
 */
export function toAuthenticatedClient(
  storedClient: StoredClient,
  server: oauth.AuthorizationServer,
): AuthenticatedClient {
  const { id, secret, method } = storedClient
  const client: oauth.Client = { client_id: id }
  if (secret === undefined || method === 'none') return { client, auth: oauth.None() }
  const supportedMethods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
  const chosenMethod = method ?? authMethods.find((candidate) => supportedMethods.includes(candidate))
  const auth = chosenMethod === 'client_secret_post' ? oauth.ClientSecretPost(secret) : createBasicAuth(secret)
  return { client, auth: chosenMethod === 'none' ? oauth.None() : auth }
}

/** Allows http, because {@link requireEndpoint} has checked the URL. */
export function createRequestOptions(serverContext: AuthServerContext, send: SendForm = sendForm): RequestOptions {
  return {
    [oauth.allowInsecureRequests]: true,
    [oauth.customFetch]: (url, request) => send(serverContext, url, request),
  }
}

type RequestOptions = oauth.HttpRequestOptions<'POST', URLSearchParams>

/** Sends the form that the library has created. */
export type SendForm = (
  serverContext: AuthServerContext,
  url: string,
  request: oauth.CustomFetchOptions<'POST', URLSearchParams>,
) => Promise<Response>

export const sendForm: SendForm = async ({ issuer, fetch, signal }, url, { method, headers, body }) => {
  const response = await fetchFromServer(fetch, url, { method, headers, body, signal, timeoutMs: endpointTimeoutMs })
  rejectUnavailableServer(response, issuer)
  return response
}

function rejectUnavailableServer({ status }: Response, issuer: string): void {
  if (status < 500 && status !== 429) return
  const message = `The authorization server ${quoteText(issuer)} answered ${status}: try again later`
  throw new AuthError('server_unavailable', message, { issuer })
}

/**
 * RFC 9126: the server takes the parameters of an authorization request, and answers with shorter ones in their place.
 */
export async function pushAuthorizationRequest(
  serverContext: AuthServerContext,
  { client, auth }: AuthenticatedClient,
  params: URLSearchParams,
): Promise<URLSearchParams> {
  const { server, issuer } = serverContext
  requireEndpoint(serverContext, 'pushed_authorization_request_endpoint')
  const options = createRequestOptions(serverContext)
  const response = await oauth.pushedAuthorizationRequest(server, client, auth, params, options)
  const { request_uri: requestUri } = await readServerResponse(response, issuer)
  if (typeof requestUri !== 'string') throw createUnusableError(issuer, 'it has no request_uri')
  return new URLSearchParams({ client_id: client.client_id, request_uri: requestUri })
}

/** RFC 7009. */
export async function revokeToken(
  serverContext: AuthServerContext,
  { client, auth }: AuthenticatedClient,
  token: { readonly value: string; readonly hint: 'refresh_token' | 'access_token' },
): Promise<void> {
  const { server, issuer } = serverContext
  requireEndpoint(serverContext, 'revocation_endpoint')
  const options = { ...createRequestOptions(serverContext), additionalParameters: { token_type_hint: token.hint } }
  await readServerResponse(await oauth.revocationRequest(server, client, auth, token.value, options), issuer)
}

/** RFC 7591. Throws {@link AuthError} `registration_rejected` if the server refuses. */
export async function registerClient(
  serverContext: AuthServerContext,
  metadata: Partial<oauth.Client>,
): Promise<StoredClient> {
  const { issuer, fetch, signal } = serverContext
  const endpoint = requireEndpoint(serverContext, 'registration_endpoint')
  const response = await fetchFromServer(fetch, endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(metadata),
    timeoutMs: endpointTimeoutMs,
    signal,
  })
  rejectUnavailableServer(response, issuer)
  const fields = (await readJsonObject(response)) ?? {}
  // Parsed here, because some servers answer 200 instead of 201 (RFC 7591), which the library would reject.
  const client = response.ok ? parseRegistration(fields) : undefined
  if (client !== undefined) return client
  const { code, description } = parseOAuthError(fields)
  const details = description ?? code ?? `status ${response.status}`
  const message = `The authorization server ${quoteText(issuer)} did not register the client: ${quoteText(details)}`
  throw new AuthError('registration_rejected', message, { issuer, error: code })
}

function parseRegistration(fields: JsonObject): StoredClient | undefined {
  const { client_id: id, client_secret: secret, client_secret_expires_at: expiresAtSeconds } = fields
  const { token_endpoint_auth_method: method, redirect_uris: redirectUriList } = fields
  if (typeof id !== 'string' || id === '') return undefined
  return {
    id,
    secret: typeof secret === 'string' && secret !== '' ? secret : undefined,
    // RFC 7591, section 3.2.1: 0 means that the secret does not expire.
    expiresAt: typeof expiresAtSeconds === 'number' && expiresAtSeconds > 0 ? expiresAtSeconds * 1000 : undefined,
    method: typeof method === 'string' ? method : undefined,
    redirectUris: stringsOf(redirectUriList) ?? [],
  }
}
