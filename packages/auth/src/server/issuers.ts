import type { JsonObject } from '@x/schema'
import { decodeJwt } from 'jose'
import type { AuthenticationContext } from './credentials.ts'
import type { FetchFunction } from '../bounded-fetch.ts'
import { parseSecureUrl } from '../oauth-urls.ts'
import { createIssuerFetch } from './issuer-requests.ts'
import { createIntrospection, type IntrospectionOptions } from './introspect.ts'
import { createIssuerKeys } from './issuer-keys.ts'
import { TokenError } from './token-error.ts'
import { asymmetricAlgorithms, verifyJwt } from './verify-jwt.ts'

/** An authorization server whose tokens are accepted. */
export interface IssuerOptions {
  /** Its identifier, exactly as in `iss` of its tokens and in `issuer` of its metadata. */
  readonly issuer: string
  /** Address of its keys. Read from its metadata when absent. */
  readonly jwksUri?: string | undefined
  /** The audience of its tokens for this server, where that is not `resource`: an application's id, for instance. */
  readonly audience?: string | readonly string[] | undefined
  /** The accepted signature algorithms. RS, PS and ES 256 to 512 and EdDSA when absent. */
  readonly algorithms?: readonly string[] | undefined
  /**
   * Introspects each token at the issuer instead of verifying it here: for opaque tokens, and for tokens that it may
   * revoke. One issuer may have it.
   */
  readonly introspection?: IntrospectionOptions | undefined
}

/** One issuer, and the verification of its tokens. */
export interface Issuer {
  readonly issuer: string
  /** The longest time in milliseconds for which a verified token may be cached. */
  readonly cacheMs: number
  /** Returns the claims of a token that is valid here. Rejects with a {@link TokenError}. */
  verify(token: string, context: AuthenticationContext): Promise<JsonObject>
  /** Rejects with a {@link TokenError} while no token can be verified. */
  ready(): Promise<void>
}

/** The issuers whose tokens are accepted. */
export interface Issuers {
  /** Finds the issuer of a token by its unverified `iss`. Throws a {@link TokenError}. */
  resolve(token: string): Issuer
  /** Rejects with the error of one issuer until one of them is ready. */
  ready(): Promise<void>
}

/** Settings that all issuers share. */
export interface SharedIssuerSettings {
  readonly resource: string
  readonly clockToleranceMs: number
  readonly cacheMs: number
  readonly fetch: FetchFunction
  readonly now: () => number
  readonly onError: (error: unknown, context: AuthenticationContext | undefined) => void
}

const introspectionCacheMs = 30_000

/**
 * Creates the issuers from their options.
 *
 * @throws TypeError for invalid issuers.
 */
export function createIssuers(
  issuerEntries: readonly (string | IssuerOptions)[],
  settings: SharedIssuerSettings,
): Issuers {
  const issuerOptionsList = issuerEntries.map((entry) => (typeof entry === 'string' ? { issuer: entry } : entry))
  if (issuerOptionsList.length === 0)
    throw new TypeError('issuers is empty: give the identifier of an authorization server')
  const introspectingIssuers = issuerOptionsList.filter(({ introspection }) => introspection !== undefined)
  if (introspectingIssuers.length > 1)
    throw new TypeError('Two issuers have introspection: an opaque token does not name its issuer, so give it to one')
  const issuers = new Map(issuerOptionsList.map((options) => [options.issuer, compileIssuer(options, settings)]))
  if (issuers.size < issuerOptionsList.length) throw new TypeError('issuers has the same issuer twice')
  const opaqueTokenIssuer = issuers.get(introspectingIssuers[0]?.issuer ?? '')
  let isReady = false
  return {
    resolve: (token) => findIssuer(token, issuers, opaqueTokenIssuer),
    ready: async () => {
      // Cached keys are used for a day, so that a later outage of the issuer does not make the server unready.
      if (isReady) return
      const readiness = await Promise.allSettled([...issuers.values()].map((issuer) => issuer.ready()))
      isReady = readiness.some(({ status }) => status === 'fulfilled')
      const [first] = readiness
      if (!isReady && first?.status === 'rejected') throw first.reason
    },
  }
}

function findIssuer(
  token: string,
  issuers: ReadonlyMap<string, Issuer>,
  opaqueTokenIssuer: Issuer | undefined,
): Issuer {
  const iss = readClaimedIssuer(token)
  if (iss === undefined) {
    if (opaqueTokenIssuer !== undefined) return opaqueTokenIssuer
    throw new TokenError('malformed', 'The token is no JWT with an issuer, and no issuer has introspection')
  }
  const issuer = issuers.get(iss)
  if (issuer !== undefined) return issuer
  throw new TokenError(
    'unknown_issuer',
    `The token says that it is of ${JSON.stringify(iss.slice(0, 200))}, which is not in issuers`,
  )
}

function readClaimedIssuer(token: string): string | undefined {
  try {
    const { iss } = decodeJwt(token)
    return typeof iss === 'string' ? iss : undefined
  } catch {
    return undefined
  }
}

function compileIssuer(options: IssuerOptions, settings: SharedIssuerSettings): Issuer {
  const { issuer, introspection } = options
  parseSecureUrl('issuer', issuer)
  const audience = resolveAudience(options, settings)
  const { now, onError, clockToleranceMs, cacheMs } = settings
  const fetch = createIssuerFetch(settings.fetch)
  if (introspection !== undefined) {
    if (introspection.endpoint !== undefined) parseSecureUrl('introspection.endpoint', introspection.endpoint)
    const { introspect, ready } = createIntrospection({
      ...introspection,
      issuer,
      audience,
      fetch,
      now,
      clockToleranceMs,
    })
    return { issuer, cacheMs: Math.min(cacheMs, introspectionCacheMs), verify: introspect, ready }
  }
  const { jwksUri } = options
  if (jwksUri !== undefined) parseSecureUrl('jwksUri', jwksUri)
  const { findKeys, ready } = createIssuerKeys({ issuer, jwksUri, fetch, now, onError })
  const jwtRequirements = { issuer, audience, algorithms: resolveAlgorithms(options), findKeys, clockToleranceMs, now }
  return { issuer, cacheMs, verify: (token, context) => verifyJwt(token, { ...jwtRequirements, context }), ready }
}

function resolveAudience({ issuer, audience }: IssuerOptions, { resource }: SharedIssuerSettings): readonly string[] {
  const audiences = typeof audience === 'string' ? [audience] : (audience ?? [resource])
  if (audiences.length > 0 && audiences.every((name) => typeof name === 'string' && name !== '')) return [...audiences]
  throw new TypeError(`The audience of "${issuer}" is empty: a server takes no tokens that were made for others`)
}

function resolveAlgorithms({ issuer, algorithms = asymmetricAlgorithms }: IssuerOptions): readonly string[] {
  for (const algorithm of algorithms) {
    if (!asymmetricAlgorithms.includes(algorithm))
      throw new TypeError(
        `algorithms of "${issuer}" has ${JSON.stringify(algorithm)}: choose among ${asymmetricAlgorithms.join(', ')}`,
      )
  }
  return [...algorithms]
}
