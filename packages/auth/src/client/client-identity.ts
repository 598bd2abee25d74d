import { isThisMachine, quoteText } from '@x/core'
import type { AuthorizationServer } from 'oauth4webapi'
import { AuthError, isAuthError } from './auth-error.ts'
import { isSameIssuer } from '../oauth-urls.ts'
import { registerClient, type AuthServerContext } from './server-requests.ts'
import { withLock } from './store.ts'
import type { AuthRecords, StoredClient, StoredToken } from './stored.ts'

/** A client that is registered already at an authorization server, the only one that gets its credentials. */
export interface ClientRegistration {
  /** Issuer of the authorization server, in the exact spelling of its metadata. */
  readonly issuer: string
  readonly id: string
  readonly secret?: string | undefined
  /** How it authenticates at the token endpoint. Default: a method that the server supports. */
  readonly method?: 'client_secret_basic' | 'client_secret_post' | 'none' | undefined
}

/** How a program that logs in identifies itself to authorization servers (basic/authorization/client-registration). */
export interface ClientIdentity {
  /** Shown to the person who is asked to consent. */
  readonly name: string
  /** URL of a Client ID Metadata Document: https, with a path. */
  readonly metadataUrl?: string | undefined
  /**
   * Clients that are registered already. With at least one, the program registers itself nowhere: a login at a server
   * without an entry, which does not accept `metadataUrl`, rejects with `AuthError` `client_needed`.
   */
  readonly registrations?: readonly ClientRegistration[] | undefined
}

/** Redirect URI of a login, and those that a registration lists. */
export interface RedirectTarget {
  readonly uri: string
  readonly registeredUris: readonly string[]
  readonly applicationType: 'native' | 'web'
}

/** Throws a `TypeError` for a metadata URL that no authorization server would accept. */
export function checkClientIdentity({ metadataUrl }: ClientIdentity): void {
  if (metadataUrl === undefined) return
  const url = URL.canParse(metadataUrl) ? new URL(metadataUrl) : undefined
  if (url?.protocol === 'https:' && url.pathname !== '/' && url.hash === '' && url.username === '') return
  throw new TypeError('`metadataUrl` must be an https URL with a path: it is the client id')
}

/**
 * Finds the client for a login at an authorization server: a registration of the options, the metadata document, a
 * stored registration, or else a new one. Throws {@link AuthError} if none is possible.
 */
export async function findOrRegisterClient(
  serverContext: AuthServerContext,
  identity: ClientIdentity,
  context: { readonly records: AuthRecords; readonly target: RedirectTarget; readonly now: number },
): Promise<StoredClient> {
  const { issuer } = serverContext
  const configuredClient = findConfiguredClient(serverContext, identity)
  if (configuredClient !== undefined) return configuredClient
  rejectForeignIssuer(issuer, identity)
  // All logins at one issuer share one registration: the first registers the client, and the others wait.
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
  if (storedClient !== undefined && isUsableRegistration(storedClient, target, now)) return storedClient
  if (endpoint === undefined) {
    const message = `The authorization server ${quoteText(issuer)} registers no clients: register one there, and give it in \`registrations\``
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

/** Undefined if the program no longer has the client to which the token was issued. */
export function findClientOf(
  serverContext: Pick<AuthServerContext, 'server' | 'issuer'>,
  identity: ClientIdentity,
  { clientId, client }: Pick<StoredToken, 'clientId' | 'client'>,
): StoredClient | undefined {
  const foundClient = findConfiguredClient(serverContext, identity) ?? client
  return foundClient?.id === clientId ? foundClient : undefined
}

/** With a client in the options, the program registers none. */
export function isConfiguredClient(
  serverContext: Pick<AuthServerContext, 'server' | 'issuer'>,
  identity: ClientIdentity,
): boolean {
  return findConfiguredClient(serverContext, identity) !== undefined
}

function findConfiguredClient(
  { server, issuer: namedIssuer }: Pick<AuthServerContext, 'server' | 'issuer'>,
  identity: ClientIdentity,
): StoredClient | undefined {
  const { metadataUrl, registrations = [] } = identity
  const registration = registrations.find(
    ({ issuer }) => isSameIssuer(issuer, server.issuer) || isSameIssuer(issuer, namedIssuer),
  )
  if (registration !== undefined) return { ...registration, redirectUris: [] }
  if (metadataUrl === undefined || server['client_id_metadata_document_supported'] !== true) return undefined
  return { id: metadataUrl, method: 'none', redirectUris: [] }
}

/**
 * `update` returns undefined to remove the registration. Does nothing if the store has none, or that of another client:
 * another process may have registered again meanwhile.
 */
export async function updateRegistration(
  { store, clients }: AuthRecords,
  { issuer, id }: { readonly issuer: string; readonly id: string },
  update: (client: StoredClient) => StoredClient | undefined,
): Promise<void> {
  const key = clients.toKey(issuer)
  if ((await clients.read(key))?.id !== id) return
  await withLock(store, key, async () => {
    const storedClient = await clients.read(key)
    if (storedClient?.id !== id) return
    const updatedClient = update(storedClient)
    if (updatedClient === undefined) await clients.remove(key)
    else if (updatedClient.replaceAt !== storedClient.replaceAt) await clients.write(key, updatedClient)
  })
}

/** RFC 6749, sections 4.1.2.1 and 5.2. */
export function isUnknownClient(error: unknown): boolean {
  return isAuthError(error) && (error.error === 'invalid_client' || error.error === 'unauthorized_client')
}

/** Removes a client's registration if a request fails because the authorization server does not know it. */
export async function forgetUnknownClient<T>(
  request: Promise<T>,
  { records, ...key }: Parameters<typeof updateRegistration>[1] & { readonly records: AuthRecords },
): Promise<T> {
  try {
    return await request
  } catch (error) {
    if (isUnknownClient(error)) await updateRegistration(records, key, () => undefined)
    throw error
  }
}

// basic/authorization/client-registration: credentials for one authorization server are never sent to another one.
function rejectForeignIssuer(issuer: string, { registrations = [] }: ClientIdentity): void {
  if (registrations.length === 0) return
  const otherIssuers = registrations.map((registration) => quoteText(registration.issuer)).join(', ')
  const message = `The server names the issuer ${quoteText(issuer)}; the registered clients are for ${otherIssuers}`
  throw new AuthError('client_needed', message, { issuer })
}

function isUsableRegistration(client: StoredClient, { uri }: RedirectTarget, now: number): boolean {
  const { secret, expiresAt, replaceAt } = client
  const hasSecretExpired = secret !== undefined && expiresAt !== undefined && expiresAt <= now
  const isUnanswered = replaceAt !== undefined && replaceAt <= now
  return !hasSecretExpired && !isUnanswered && acceptsRedirectUri(client, uri)
}

/** A loopback URI that is registered without a port allows every port (RFC 8252, section 7.3). */
function acceptsRedirectUri({ redirectUris }: StoredClient, uri: string): boolean {
  const url = new URL(uri)
  const portlessUri = new URL(uri)
  if (url.protocol === 'http:' && isThisMachine(url.hostname)) portlessUri.port = ''
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
  // No scope is named, because a server refuses a registration with one that it does not list.
  return {
    client_name: identity.name,
    redirect_uris: [...target.registeredUris],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: method,
    application_type: target.applicationType,
  }
}
