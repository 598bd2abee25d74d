import { type OptionTable, optionTypes, quoteText } from '@x/core'
import type { AuthenticationContext } from '@x/exchange'
import type { JsonObject } from '@x/schema'
import { decodeJwt } from 'jose'
import { parseSecureUrl } from '../oauth-urls.ts'
import { createIssuerFetch } from './issuer-requests.ts'
import { createIntrospection, type IntrospectionOptions } from './introspect.ts'
import { IssuerKeys } from './issuer-keys.ts'
import type { KeySource } from './key-cache.ts'
import { TokenError } from './token-error.ts'
import { asymmetricAlgorithms, verifyJwt } from './verify-jwt.ts'

/** An authorization server whose tokens are accepted. */
export interface IssuerOptions {
  /** Identifier of the issuer, exactly as in the claim `iss` of its tokens and in `issuer` of its metadata. */
  readonly issuer: string
  /** URL of the issuer's keys. Default: the `jwks_uri` in its metadata. */
  readonly jwksUri?: string | undefined
  /** Audience of the issuer's tokens for this server, such as the id of an application. Default: `resource`. */
  readonly audience?: string | readonly string[] | undefined
  /** Accepted signature algorithms. Default: RS, PS and ES with 256 to 512 bits, and EdDSA. */
  readonly algorithms?: readonly string[] | undefined
  /**
   * Checks each token by introspection at the issuer instead of by its signature: for opaque tokens, and for tokens
   * that the issuer may revoke. An accepted token is cached for up to 30 seconds, which is how late a revocation may
   * take effect. Only one issuer may have this option.
   */
  readonly introspection?: IntrospectionOptions | undefined
}

export const issuerOptionTable = {
  issuer: { type: optionTypes.string },
  jwksUri: { type: optionTypes.string },
  audience: {
    type: {
      name: 'a string, or an array of strings',
      accepts: (value) => optionTypes.string.accepts(value) || optionTypes.strings.accepts(value),
    },
  },
  algorithms: { type: optionTypes.strings },
  introspection: {
    type: optionTypes.object,
    group: {
      endpoint: { type: optionTypes.string },
      client: { type: optionTypes.object },
    } satisfies OptionTable<IntrospectionOptions>,
  },
} satisfies OptionTable<IssuerOptions>

export interface Issuer {
  readonly issuer: string
  /** How long a verified token is cached at most, in milliseconds. */
  readonly cacheMs: number
  /** Resolves with the claims. Rejects with a {@link TokenError}. */
  verify(token: string, context: AuthenticationContext): Promise<JsonObject>
  /** Rejects with a {@link TokenError} while no token of this issuer can be verified. */
  ready(): Promise<void>
}

export interface SharedIssuerSettings extends Pick<KeySource, 'fetch' | 'monotonicNow' | 'onError'> {
  readonly resource: string
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly clockToleranceMs: number
  readonly cacheMs: number
}

// limit: introspection | ms | the age of an answer | the issuer is asked again
const introspectionCacheMs = 30_000

export class Issuers {
  readonly #issuers: ReadonlyMap<string, Issuer>
  readonly #opaqueTokenIssuer: Issuer | undefined
  #isReady = false

  /** Throws a `TypeError` for invalid issuers. */
  constructor(issuerEntries: readonly (string | IssuerOptions)[], settings: SharedIssuerSettings) {
    const issuerOptionsList = issuerEntries.map((entry) => (typeof entry === 'string' ? { issuer: entry } : entry))
    if (issuerOptionsList.length === 0)
      throw new TypeError('issuers is empty: give the identifier of an authorization server')
    const introspectingIssuers = issuerOptionsList.filter(({ introspection }) => introspection !== undefined)
    if (introspectingIssuers.length > 1)
      throw new TypeError('Two issuers have introspection: an opaque token does not name its issuer, so give it to one')
    this.#issuers = new Map(issuerOptionsList.map((options) => [options.issuer, compileIssuer(options, settings)]))
    if (this.#issuers.size < issuerOptionsList.length) throw new TypeError('issuers has the same issuer twice')
    this.#opaqueTokenIssuer = this.#issuers.get(introspectingIssuers[0]?.issuer ?? '')
  }

  /** Goes by the unverified claim `iss`. Throws a {@link TokenError} if no accepted issuer fits. */
  resolve(token: string): Issuer {
    const iss = readClaimedIssuer(token)
    const issuer = iss === undefined ? this.#opaqueTokenIssuer : this.#issuers.get(iss)
    if (issuer !== undefined) return issuer
    if (iss === undefined)
      throw new TokenError('malformed', 'The token is not a JWT with an issuer, and no issuer has introspection')
    throw new TokenError('unknown_issuer', `The token names the issuer ${quoteText(iss)}, which is not in issuers`)
  }

  /** Resolves when one issuer is ready. Otherwise rejects with the error of one. */
  async ready(): Promise<void> {
    // Once it has succeeded, the check always does: cached keys are used for a day, so a later outage of the issuer
    // must not make the server unready.
    if (this.#isReady) return
    const readiness = await Promise.allSettled([...this.#issuers.values()].map((issuer) => issuer.ready()))
    this.#isReady = readiness.some(({ status }) => status === 'fulfilled')
    const [first] = readiness
    if (!this.#isReady && first?.status === 'rejected') throw first.reason
  }
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
  const { now, monotonicNow, onError, clockToleranceMs, cacheMs } = settings
  const fetch = createIssuerFetch(settings.fetch)
  if (introspection !== undefined) {
    if (introspection.endpoint !== undefined) parseSecureUrl('introspection.endpoint', introspection.endpoint)
    const { introspect, ready } = createIntrospection({
      ...introspection,
      issuer,
      audience,
      fetch,
      now,
      monotonicNow,
      onError,
      clockToleranceMs,
    })
    return { issuer, cacheMs: Math.min(cacheMs, introspectionCacheMs), verify: introspect, ready }
  }
  const { jwksUri } = options
  if (jwksUri !== undefined) parseSecureUrl('jwksUri', jwksUri)
  const keys = new IssuerKeys({ issuer, jwksUri, fetch, monotonicNow, onError })
  const jwtRequirements = { issuer, audience, algorithms: resolveAlgorithms(options), keys, clockToleranceMs, now }
  return {
    issuer,
    cacheMs,
    verify: (token, context) => verifyJwt(token, { ...jwtRequirements, context }),
    ready: () => keys.ready(),
  }
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
