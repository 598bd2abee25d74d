import type { AuthorizationServer } from 'oauth4webapi'
import { AuthError, quoteText } from './auth-error.ts'
import { isLoopbackHost } from '../oauth-urls.ts'
import { registerClient, type AuthServerContext } from './server-requests.ts'
import { withLock } from './store.ts'
import type { AuthRecords, StoredClient } from './stored.ts'

/** A client that is already registered at an authorization server. Its credentials are sent to this server only. */
export interface ClientRegistration {
  /** The issuer of the authorization server, in the exact spelling of its metadata. */
  readonly issuer: string
  readonly id: string
  readonly secret?: string | undefined
  /** The authentication method at the token endpoint. Default: a method that the server supports. */
  readonly method?: 'client_secret_basic' | 'client_secret_post' | 'none' | undefined
}

/**
 * The program that logs in, as it identifies itself to authorization servers (basic/authorization/client-registration).
 */
export interface ClientIdentity {
  /** The name that the authorization server shows to the person who is asked to consent. */
  readonly name: string
  /** The URL of a Client ID Metadata Document: an https URL with a path. */
  readonly metadataUrl?: string | undefined
  /**
   * The clients that are already registered at authorization servers. With at least one, the program does not register
   * itself at other servers: a login at a server without an entry, which does not accept `metadataUrl`, rejects with
   * `AuthError` `client_needed`.
   */
  readonly registrations?: readonly ClientRegistration[] | undefined
}

/** The redirect URI of a login, and the redirect URIs that a registration lists. */
export interface RedirectTarget {
  readonly uri: string
  readonly registeredUris: readonly string[]
  readonly applicationType: 'native' | 'web'
}

/** Throws a `TypeError` if no authorization server would accept the metadata URL of an identity. */
export function checkClientIdentity({ metadataUrl }: ClientIdentity): void {
  if (metadataUrl === undefined) return
  const url = URL.canParse(metadataUrl) ? new URL(metadataUrl) : undefined
  if (url?.protocol === 'https:' && url.pathname !== '/' && url.hash === '' && url.username === '') return
  throw new TypeError('`metadataUrl` must be an https URL with a path: it is the client id')
}

/**
 * Returns the client for a login at an authorization server. Tries, in this order, a registration from the options, the
 * metadata document, a stored registration, and a new registration. Throws {@link AuthError} if none of them is
 * possible.
 */
export async function findOrRegisterClient(
  serverContext: AuthServerContext,
  identity: ClientIdentity,
  context: { readonly records: AuthRecords; readonly target: RedirectTarget; readonly now: number },
): Promise<StoredClient> {
  const { issuer } = serverContext.server
  const configuredClient = findConfiguredClient(serverContext.server, identity)
  if (configuredClient !== undefined) return configuredClient
  rejectForeignIssuer(issuer, identity)
  // All logins at one issuer share one registration, so the first of them registers the client and the others wait.
  const key = context.records.clients.toKey(issuer)
  return withLock(context.records.store, key, () => findOrRegister(serverContext, identity, { ...context, key }))
}

async function findOrRegister(
  serverContext: AuthServerContext,
  identity: ClientIdentity,
  { records, target, now, key }: Parameters<typeof findOrRegisterClient>[2] & { readonly key: string },
): Promise<StoredClient> {
  const { issuer, registration_endpoint: endpoint } = serverContext.server
  const storedClient = await records.clients.read(key)
  if (
    storedClient !== undefined &&
    !hasSecretExpired(storedClient, now) &&
    acceptsRedirectUri(storedClient, target.uri)
  )
    return storedClient
  if (endpoint === undefined) {
    const message = `The authorization server ${quoteText(issuer)} registers no clients: give it one in \`registrations\``
    throw new AuthError('client_needed', message, { issuer })
  }
  const registeredClient = await registerClient(
    serverContext,
    createRegistration(serverContext.server, identity, target),
  )
  const client =
    registeredClient.redirectUris.length > 0
      ? registeredClient
      : { ...registeredClient, redirectUris: target.registeredUris }
  await records.clients.write(key, client)
  return client
}

/**
 * Returns the client with the id `query.id`, to which a token was issued. Returns undefined if the options and the
 * store no longer contain this client.
 */
export async function findKnownClient(
  server: AuthorizationServer,
  identity: ClientIdentity,
  query: { readonly records: AuthRecords; readonly id: string },
): Promise<StoredClient | undefined> {
  const { records, id } = query
  const configuredClient = findConfiguredClient(server, identity)
  const foundClient = configuredClient ?? (await records.clients.read(records.clients.toKey(server.issuer)))
  return foundClient?.id === id ? foundClient : undefined
}

function findConfiguredClient(server: AuthorizationServer, identity: ClientIdentity): StoredClient | undefined {
  const { metadataUrl, registrations = [] } = identity
  const registration = registrations.find(({ issuer }) => issuer === server.issuer)
  if (registration !== undefined) return { ...registration, redirectUris: [] }
  if (metadataUrl === undefined || server['client_id_metadata_document_supported'] !== true) return undefined
  return { id: metadataUrl, method: 'none', redirectUris: [] }
}

// basic/authorization/client-registration: credentials for one authorization server are never sent to another one.
function rejectForeignIssuer(issuer: string, { registrations = [] }: ClientIdentity): void {
  if (registrations.length === 0) return
  const otherIssuers = registrations.map((registration) => quoteText(registration.issuer)).join(', ')
  const message = `The server names the issuer ${quoteText(issuer)}; the registered clients are for ${otherIssuers}`
  throw new AuthError('client_needed', message, { issuer })
}

function hasSecretExpired({ secret, expiresAt }: StoredClient, now: number): boolean {
  return secret !== undefined && expiresAt !== undefined && expiresAt <= now
}

/**
 * Returns true if a client may use a redirect URI. A loopback URI that is registered without a port allows every port
 * (RFC 8252, section 7.3).
 */
function acceptsRedirectUri({ redirectUris }: StoredClient, uri: string): boolean {
  const url = new URL(uri)
  const portlessUri = new URL(uri)
  if (url.protocol === 'http:' && isLoopbackHost(url.hostname)) portlessUri.port = ''
  return redirectUris.some((registeredUri) => registeredUri === uri || registeredUri === portlessUri.href)
}

function createRegistration(
  { token_endpoint_auth_methods_supported: methods }: AuthorizationServer,
  identity: ClientIdentity,
  target: RedirectTarget,
): Record<string, string | string[]> {
  const preferredMethods = ['none', 'client_secret_basic', 'client_secret_post']
  const method =
    preferredMethods.find((candidate) => (methods ?? ['client_secret_basic']).includes(candidate)) ?? 'none'
  // The registration names no scope, because a server refuses a registration with a scope that it does not list.
  return {
    client_name: identity.name,
    redirect_uris: [...target.registeredUris],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: method,
    application_type: target.applicationType,
  }
}
