import { BoundedMap, quoteText } from '@x/core'
import type { AuthorizationServer } from 'oauth4webapi'
import { requestTokenChallenge, type TokenChallenge } from './challenges.ts'
import type { StoredCredentials } from './stored-credentials.ts'
import { AuthError } from './auth-error.ts'
import { isSameIssuer } from '../oauth-urls.ts'
import type { Dpop } from './dpop-binding.ts'
import { discoverResourceMetadata, type ResourceMetadata } from './resource-metadata.ts'
import { parseSafeUrl } from './safe-url.ts'
import { discoverServerMetadata } from './server-metadata.ts'
import type { StoredEndpoint } from './stored.ts'
import {
  acquireToken,
  type TokenRequest,
  type TokenRequirements,
  type TokenResult,
  type TokenSource,
} from './token-source.ts'

const maxScopes = 100

/**
 * basic/authorization, scope selection strategy: the scopes of the challenge, or all that the resource lists if the
 * challenge names none; those of earlier logins are added. Throws {@link AuthError} `too_many_scopes`.
 */
function selectScopes(
  tokenChallenge: TokenChallenge,
  metadata: ResourceMetadata,
  server: AuthorizationServer,
  requestedScopes: readonly string[],
): readonly string[] {
  const neededScopes = tokenChallenge.scopes ?? metadata.scopes ?? []
  const scopes = new Set([...requestedScopes, ...neededScopes])
  // Never requested alone: the server would then not choose its default scopes.
  if (scopes.size > 0 && server.scopes_supported?.includes('offline_access')) scopes.add('offline_access')
  else scopes.delete('offline_access')
  if (scopes.size <= maxScopes) return [...scopes]
  const message = `${metadata.resource} asks for more than ${maxScopes} scopes in one login`
  throw new AuthError('too_many_scopes', message, { issuer: server.issuer })
}

/** What `oauth` must know of one authorization server. */
export interface AuthServerSettings {
  /** `omit` leaves out the parameter `resource`, for servers that refuse it. */
  readonly resource?: 'omit' | undefined
  /** The issuer as this server's metadata spells it, if the resource or the program spells it otherwise. */
  readonly alias?: string | undefined
  /**
   * `default` accepts a server without metadata, with the endpoints `/authorize`, `/token` and `/register` of revision
   * 2025-03-26. Set it only for a server that supports PKCE.
   */
  readonly endpoints?: 'default' | undefined
}

/** What you say in place of an API that publishes no metadata (RFC 9728). */
export interface GivenResource {
  /** Identifier of the resource at the authorization server, such as `https://api.example.com`. */
  readonly resource: string
  /** Scopes that each token has. Default: those that the authorization server chooses. */
  readonly scopes?: readonly string[] | undefined
}

export interface AuthorizerDeps extends TokenSource {
  /** Takes the place of metadata that an endpoint publishes, so that a token is obtained before the first request. */
  readonly givenResource?: GivenResource | undefined
  readonly settingsByIssuer: ReadonlyMap<string, AuthServerSettings>
  /** Issuers at which the user has registered the client. */
  readonly preferredIssuers: readonly string[]
  /** Set if no other issuer may be used. */
  readonly configuredIssuer?: string | undefined
  readonly dpop?: Dpop | undefined
  /** True if a person has to act for a new authorization. */
  readonly requiresUserInteraction: boolean
}

/** Prepares requests to `issuer`, which a document at `sourceUrl` has named. */
export type AuthServerContextResolver = (
  issuer: string,
  sourceUrl: URL,
  signal: AbortSignal,
) => Promise<TokenRequirements['serverContext']>

const metadataTtlMs = 600_000
const maxCachedServers = 100

/** Caches the metadata of each authorization server for ten minutes. */
export function createAuthServerContextResolver({
  fetch,
  now,
  settingsByIssuer,
  dpop,
}: AuthorizerDeps): AuthServerContextResolver {
  const servers = new BoundedMap<string, { readonly fetchedAt: number; readonly server: AuthorizationServer }>(
    maxCachedServers,
  )
  return async (issuer, sourceUrl, signal) => {
    // Checked before the cache is read, because another endpoint may have put the issuer there.
    parseSafeUrl(issuer, sourceUrl, 'The issuer')
    const { alias, resource, endpoints } = findSettings(settingsByIssuer, issuer)
    const context = { issuer, fetch, signal, sendsResource: resource !== 'omit' }
    // Without metadata, nothing says that a server supports PKCE. Its own resource may: revision 2025-03-26 requires it.
    const hasDefaultEndpoints = endpoints === 'default' || isSameIssuer(issuer, sourceUrl.origin)
    const cacheKey = JSON.stringify([issuer, hasDefaultEndpoints])
    const cachedServer = servers.get(cacheKey)
    if (cachedServer !== undefined && Math.abs(now() - cachedServer.fetchedAt) < metadataTtlMs) {
      return { ...context, server: cachedServer.server, dpop: selectDpop(cachedServer.server, dpop) }
    }
    const server = await discoverServerMetadata({ issuer, sourceUrl, alias, hasDefaultEndpoints, fetch, signal })
    servers.set(cacheKey, { fetchedAt: now(), server })
    return { ...context, server, dpop: selectDpop(server, dpop) }
  }
}

function findSettings(settingsByIssuer: AuthorizerDeps['settingsByIssuer'], issuer: string): AuthServerSettings {
  for (const [configuredIssuer, settings] of settingsByIssuer) {
    if (isSameIssuer(configuredIssuer, issuer)) return settings
  }
  return {}
}

/** RFC 9449, section 5.1. Throws {@link AuthError} `dpop_unsupported` if bound tokens are required. */
function selectDpop(server: AuthorizationServer, dpop: Dpop | undefined): Dpop | undefined {
  const { issuer, dpop_signing_alg_values_supported: supportedAlgorithms } = server
  if (dpop === undefined || supportedAlgorithms?.includes('ES256')) return dpop
  if (!dpop.isRequired) return undefined
  const message = `The authorization server ${quoteText(issuer)} does not list ES256 in dpop_signing_alg_values_supported`
  throw new AuthError('dpop_unsupported', message, { issuer })
}

/**
 * Turns to bearer tokens for an endpoint that refuses bound ones. Throws {@link AuthError} `dpop_unsupported` if bound
 * tokens are required.
 */
export function withoutRefusedDpop(
  serverContext: TokenRequirements['serverContext'],
  refusesDpop: boolean,
  { origin }: URL,
): TokenRequirements['serverContext'] {
  if (!refusesDpop || serverContext.dpop === undefined) return serverContext
  if (!serverContext.dpop.isRequired) return { ...serverContext, dpop: undefined }
  const message = `${origin} refuses tokens that are bound to a key: leave out \`required\` of dpop(). logout forgets this`
  throw new AuthError('dpop_unsupported', message, { issuer: serverContext.issuer })
}

/** Challenge for a login without a call: the scopes of the program, or those that the first call would be asked for. */
export async function firstChallenge(
  { fetch, givenResource }: AuthorizerDeps,
  endpoint: URL,
  { scopes, signal }: { readonly scopes: readonly string[] | undefined; readonly signal: AbortSignal },
): Promise<TokenChallenge> {
  if (scopes !== undefined || givenResource !== undefined) return { metadataUrl: undefined, scopes, error: undefined }
  return requestTokenChallenge(fetch, endpoint, signal)
}

/**
 * Discovers the authorization server of an endpoint, and obtains a token there. With `isOneTime` the token is used once,
 * so no refresh token is requested.
 */
export async function authorize(
  deps: AuthorizerDeps & {
    readonly storedCredentials: StoredCredentials
    readonly resolveServerContext: AuthServerContextResolver
  },
  query: Pick<TokenRequest, 'rejectedToken' | 'canRefresh' | 'canRequestGrant'> & {
    readonly endpoint: URL
    readonly challenge: TokenChallenge
    readonly isOneTime?: boolean | undefined
  },
  signal: AbortSignal,
): Promise<TokenResult | undefined> {
  const { storedCredentials, resolveServerContext } = deps
  const { endpoint, challenge, isOneTime = false, ...rest } = query
  // basic/authorization/authorization-server-discovery: read each time, because the resource may have moved to another
  // authorization server.
  const metadata = await findMetadata(deps, endpoint, challenge, signal)
  const lastEndpoint = await storedCredentials.loadEndpoint(endpoint)
  const issuer = await chooseIssuer(deps, metadata, lastEndpoint)
  const refusesDpop = lastEndpoint?.refusesDpop === true
  const serverContext = withoutRefusedDpop(await resolveServerContext(issuer, endpoint, signal), refusesDpop, endpoint)
  const { resource } = metadata
  const isSameResource = lastEndpoint?.issuer === issuer && lastEndpoint.resource === resource
  const requestedScopes = isSameResource ? lastEndpoint.requested : []
  const selectedScopes = selectScopes(challenge, metadata, serverContext.server, requestedScopes)
  const scopes = isOneTime ? selectedScopes.filter((scope) => scope !== 'offline_access') : selectedScopes
  const demandedScopes = challenge.scopes?.filter((scope) => scopes.includes(scope)) ?? []
  const tokenResult = await acquireToken(deps, {
    ...rest,
    endpoint,
    serverContext,
    resource,
    scopes,
    requiredScopes: demandedScopes,
  })
  if (tokenResult !== undefined)
    await storedCredentials.store(endpoint, { issuer, resource, refusesDpop }, tokenResult.token)
  return tokenResult
}

async function findMetadata(
  { givenResource, configuredIssuer, fetch }: AuthorizerDeps,
  endpoint: URL,
  { metadataUrl }: TokenChallenge,
  signal: AbortSignal,
): Promise<ResourceMetadata> {
  if (givenResource === undefined || configuredIssuer === undefined)
    return discoverResourceMetadata(endpoint, metadataUrl, { fetch, signal })
  return { resource: givenResource.resource, issuers: [configuredIssuer], scopes: givenResource.scopes }
}

/**
 * The configured issuer if there is one, else the first at which the client has credentials, else the first of the
 * metadata.
 */
async function chooseIssuer(
  { configuredIssuer, preferredIssuers, records }: AuthorizerDeps,
  { issuers }: ResourceMetadata,
  lastEndpoint: StoredEndpoint | undefined,
): Promise<string> {
  if (configuredIssuer !== undefined) return checkPinnedIssuer(configuredIssuer, issuers)
  for (const knownIssuer of [lastEndpoint?.issuer, ...preferredIssuers]) {
    const issuer = issuers.find((name) => knownIssuer !== undefined && isSameIssuer(name, knownIssuer))
    if (issuer !== undefined) return issuer
  }
  for (const issuer of issuers) {
    if ((await records.clients.read(records.clients.toKey(issuer))) !== undefined) return issuer
  }
  return issuers[0] ?? ''
}

// basic/authorization/client-registration: credentials for one authorization server are never sent to another one, even
// if the resource names it.
function checkPinnedIssuer(pinnedIssuer: string, issuers: readonly string[]): string {
  const pinned = issuers.find((name) => isSameIssuer(name, pinnedIssuer))
  if (pinned !== undefined) return pinned
  const [issuer = ''] = issuers
  const message = `The server names the issuer ${quoteText(issuer)}; the client is for ${quoteText(pinnedIssuer)}`
  throw new AuthError('client_needed', message, { issuer })
}
