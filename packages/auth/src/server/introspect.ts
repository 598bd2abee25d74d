import { captureAsyncContext, parseJsonObject } from '@x/core'
import type { AuthenticationContext } from '@x/exchange'
import { isJsonObject, type JsonObject } from '@x/schema'
import type { CryptoKey } from 'jose'
import * as oauth from 'oauth4webapi'
import { parseSecureUrl } from '../oauth-urls.ts'
import { createBasicAuth } from '../client-secret.ts'
import { discoverIssuerMetadata } from './issuer-requests.ts'
import type { KeySource } from './key-cache.ts'
import { TokenError } from './token-error.ts'
import type { JwtRequirements } from './verify-jwt.ts'

/** How tokens are introspected (RFC 7662). */
export interface IntrospectionOptions {
  /** Introspection endpoint. Default: the one in the issuer's metadata. */
  readonly endpoint?: string | undefined
  /** How this server authenticates at the issuer: a secret, or a private key that signs an assertion. */
  readonly client: { readonly id: string; readonly secret: string } | { readonly id: string; readonly key: CryptoKey }
}

export type IntrospectionDeps = IntrospectionOptions &
  Pick<JwtRequirements, 'issuer' | 'audience' | 'clockToleranceMs' | 'now'> &
  Pick<KeySource, 'fetch' | 'monotonicNow' | 'onError'>

/** Resolves with the claims. Rejects with a {@link TokenError}. */
export type IntrospectionFunction = (token: string, context: AuthenticationContext) => Promise<JsonObject>

const maxConcurrentRequests = 64
const maxConcurrentRequestsPerCaller = 8
const metadataTtlMs = 600_000

/**
 * Introspects tokens at one issuer: at most 64 requests at once, 8 of them for one caller. Further ones wait. The
 * ledger limits the requests of one caller, so that a caller with many invalid tokens delays others only a little.
 */
export function createIntrospection(deps: IntrospectionDeps): {
  readonly introspect: IntrospectionFunction
  /** Finds the introspection endpoint. If this fails, reports a {@link TokenError}, and rejects with it. */
  ready(): Promise<void>
} {
  const clientAuth = createClientAuth(deps)
  const limiter = createCallerLimiter()
  // Many requests share the metadata, so fetching it must not run in the async context of one of them.
  const runInOrigin = captureAsyncContext()
  let cachedServer:
    | { readonly serverMetadata: Promise<oauth.AuthorizationServer>; readonly fetchedAt: number }
    | undefined
  const getServer = (): Promise<oauth.AuthorizationServer> => {
    if (cachedServer === undefined || deps.monotonicNow() - cachedServer.fetchedAt >= metadataTtlMs) {
      const serverPromise = runInOrigin(() => resolveAuthorizationServer(deps))
      cachedServer = { serverMetadata: serverPromise, fetchedAt: deps.monotonicNow() }
      // After a failure, the next request fetches the metadata again.
      serverPromise.catch(() => {
        cachedServer = undefined
      })
    }
    return cachedServer.serverMetadata
  }
  const introspect: IntrospectionFunction = async (token, { ledger, callerKey }) => {
    const release = ledger.take('introspections', callerKey)
    try {
      const introspection = await limiter.run(callerKey, async () =>
        introspectToken(token, deps, clientAuth, await getServer()),
      )
      return parseIntrospection(introspection, token, deps)
    } catch (error) {
      throw error instanceof TokenError ? error : createIntrospectionError(deps, describeRequestFailure(error))
    } finally {
      release()
    }
  }
  return {
    introspect,
    ready: async () => {
      try {
        await getServer()
      } catch (cause) {
        const error = createIntrospectionError(deps, describeRequestFailure(cause))
        deps.onError(error, undefined)
        throw error
      }
    },
  }
}

function createCallerLimiter(): { run<T>(callerKey: string, send: () => Promise<T>): Promise<T> } {
  const runningByCaller = new Map<string, number>()
  // Bounded by the ledger: each running or waiting request has taken one of its introspections.
  const waiting: { readonly callerKey: string; readonly start: () => void }[] = []
  let runningCount = 0
  const mayStart = (callerKey: string): boolean =>
    runningCount < maxConcurrentRequests && (runningByCaller.get(callerKey) ?? 0) < maxConcurrentRequestsPerCaller
  const adjust = (callerKey: string, change: 1 | -1): void => {
    const callerCount = (runningByCaller.get(callerKey) ?? 0) + change
    runningCount += change
    if (callerCount > 0) runningByCaller.set(callerKey, callerCount)
    else runningByCaller.delete(callerKey)
  }
  const startNext = (): void => {
    const index = waiting.findIndex(({ callerKey }) => mayStart(callerKey))
    const [next] = index < 0 ? [] : waiting.splice(index, 1)
    if (next === undefined) return
    adjust(next.callerKey, 1)
    next.start()
  }
  return {
    run: async (callerKey, send) => {
      if (mayStart(callerKey)) adjust(callerKey, 1)
      else await new Promise<void>((resolve) => waiting.push({ callerKey, start: resolve }))
      try {
        return await send()
      } finally {
        adjust(callerKey, -1)
        startNext()
      }
    },
  }
}

// Without the cause, which may contain the request and so the token.
function createIntrospectionError({ issuer }: IntrospectionDeps, reason: string): TokenError {
  return new TokenError('issuer_unavailable', `"${issuer}" could not introspect a token: ${reason}`, { issuer })
}

function describeRequestFailure(error: unknown): string {
  return error instanceof Error ? error.message : 'it failed'
}

function createClientAuth({ client, issuer }: IntrospectionDeps): oauth.ClientAuth {
  if (!('secret' in client)) return oauth.PrivateKeyJwt(client.key)
  if (typeof client.secret === 'string' && client.secret !== '') return createBasicAuth(client.secret)
  throw new TypeError(`introspection.client of "${issuer}" has an empty secret: give the secret of this server there`)
}

async function resolveAuthorizationServer({
  issuer,
  endpoint,
  fetch,
}: IntrospectionDeps): Promise<oauth.AuthorizationServer> {
  const url = endpoint ?? (await discoverIssuerMetadata(issuer, fetch))['introspection_endpoint']
  if (typeof url !== 'string')
    throw new Error('its metadata has no introspection_endpoint: give introspection.endpoint in issuers')
  return { issuer, introspection_endpoint: parseSecureUrl('introspection_endpoint', url).href }
}

async function introspectToken(
  token: string,
  deps: IntrospectionDeps,
  clientAuth: oauth.ClientAuth,
  server: oauth.AuthorizationServer,
): Promise<oauth.IntrospectionResponse> {
  const client = { client_id: deps.client.id }
  const response = await oauth.introspectionRequest(server, client, clientAuth, token, {
    [oauth.customFetch]: (url, { method, headers, body }) => deps.fetch(url, { method, headers, body: String(body) }),
    // Checked before: it is http only for a loopback address.
    [oauth.allowInsecureRequests]: true,
  })
  // The demo of the official SDK rejects a token that it does not know, in place of our credentials.
  if (response.status === 401 && (await isInactive(response.clone()))) return { active: false }
  return oauth.processIntrospectionResponse(server, client, response)
}

async function isInactive(response: Response): Promise<boolean> {
  const answer = parseJsonObject(await response.text())
  return answer?.['active'] === false
}

// The response confirms that the issuer made the token. Audience and times are checked here in any case.
function parseIntrospection(
  introspection: oauth.IntrospectionResponse,
  token: string,
  deps: IntrospectionDeps,
): JsonObject {
  const { active, aud, iss, exp, nbf } = introspection
  if (!active) throw new TokenError('inactive', 'The issuer reports the token as not active')
  if (!isForAudience(aud, deps.audience))
    throw new TokenError('wrong_audience', 'The token was made for another resource')
  if (iss !== undefined && iss !== deps.issuer) throw new TokenError('invalid_claim', 'The token is of another issuer')
  const now = deps.now()
  // Negated, so that a text which is no time is rejected.
  if (exp !== undefined && !(exp * 1000 + deps.clockToleranceMs > now))
    throw new TokenError('expired', 'The token has expired')
  if (nbf !== undefined && !(nbf * 1000 - deps.clockToleranceMs <= now))
    throw new TokenError('not_yet_valid', 'The token is not valid yet')
  // Some servers repeat the token as a member of the response.
  const claimEntries = Object.entries(introspection).filter(([name, value]) => name !== 'active' && value !== token)
  const claimsObject: unknown = Object.fromEntries(claimEntries)
  return isJsonObject(claimsObject) ? claimsObject : {}
}

function isForAudience(aud: string | readonly string[] | undefined, audience: readonly string[]): boolean {
  const tokenAudience = typeof aud === 'string' ? [aud] : (aud ?? [])
  return tokenAudience.some((name) => audience.includes(name))
}
