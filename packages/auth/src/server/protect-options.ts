import { createLedger, type ErrorListener, errorListener } from '@x/core'
import { type FetchFunction, platformFetch } from '../bounded-fetch.ts'
import { compileImpliedScopes, type ImpliedScopes, type Scopes } from '../scopes.ts'
import { type AuthenticationState, createTokenCache } from './authenticate.ts'
import type { CertificateOf } from './binding.ts'
import { createChallenges } from './challenge.ts'
import type { AuthenticationContext } from './credentials.ts'
import { createProofVerifier, type DpopOptions } from './dpop.ts'
import { createIssuers, type IssuerOptions } from './issuers.ts'
import { createMetadataUrl } from './metadata.ts'
import { toStandardPrincipal, type ToPrincipal } from './principal.ts'
import { limitOutageReports } from './token-error.ts'

/** Tokens and requests that a server accepts. */
export interface ProtectOptions {
  /**
   * The canonical URI of the endpoint as clients write it, such as `https://mcp.example.com/mcp`: the audience of
   * tokens, and `resource` of the metadata. Without a slash at its end.
   */
  readonly resource: string
  /** The authorization servers whose tokens are accepted. Clients usually choose the first. */
  readonly issuers: readonly (string | IssuerOptions)[]
  /** Scopes that every request needs. Challenges list them. */
  readonly scopes?: Scopes | undefined
  /** The `scopes_supported` of the metadata. `scopes` when absent. `offline_access` is left out. */
  readonly supportedScopes?: Scopes | undefined
  /** Scopes that include others. The principal has those that its token's scopes include. */
  readonly impliedScopes?: ImpliedScopes | undefined
  /** A name that clients may show, as `resource_name` of the metadata. */
  readonly name?: string | undefined
  /**
   * Creates the principal from the claims of a verified token, where they differ from the usual ones. A
   * {@link TokenError} rejects the token.
   */
  readonly toPrincipal?: ToPrincipal | undefined
  /**
   * Accepts tokens that are bound to a key of their client, each request with a proof of it (RFC 9449): `'accepted'`
   * beside others, `'required'` alone. Off by default: a bound token is then rejected.
   */
  readonly dpop?: 'accepted' | 'required' | DpopOptions | undefined
  /**
   * Returns the certificate of a client, as DER, for tokens that are bound to one (RFC 8705). Without it they are
   * rejected. On Node's own TLS: `({ source }) => source.socket.getPeerCertificate().raw`.
   */
  readonly certificateOf?: CertificateOf | undefined
  /** Accepted difference between clocks in milliseconds. 5,000 by default. */
  readonly clockToleranceMs?: number | undefined
  /** Longest time in milliseconds for which a verified token is cached, never past its end. 5 minutes by default. */
  readonly cacheMs?: number | undefined
  /**
   * Receives a {@link TokenError} for each token that was rejected, and for issuers that cannot be reached. A line of
   * `console.error` when absent, `false` for none.
   */
  readonly onError?: ErrorListener<[error: unknown]>
  /** Fetches from the authorization servers. The platform's own by default. */
  readonly fetch?: FetchFunction | undefined
  /** The clock. The platform's own by default. */
  readonly runtime?: { readonly now: () => number } | undefined
}

/** The options of {@link protect}. */
export const protectOptionNames: Readonly<Record<keyof ProtectOptions, true>> = {
  resource: true,
  issuers: true,
  scopes: true,
  supportedScopes: true,
  impliedScopes: true,
  name: true,
  toPrincipal: true,
  dpop: true,
  certificateOf: true,
  clockToleranceMs: true,
  cacheMs: true,
  onError: true,
  fetch: true,
  runtime: true,
}

const maxCachedTokens = 1000
const defaultCacheMs = 300_000
const defaultClockToleranceMs = 5000

/** Returns the role of proofs, or undefined where tokens with a proof are not accepted. */
export function dpopModeOf({ dpop }: ProtectOptions): 'accepted' | 'required' | undefined {
  if (typeof dpop !== 'object') return dpop
  return dpop.required === true ? 'required' : 'accepted'
}

/** Creates the settings and caches of {@link protect} from its options. */
export function createAuthenticationState(
  options: ProtectOptions,
  resource: string,
  scopes: Scopes,
): AuthenticationState {
  const { fetch = platformFetch, runtime, toPrincipal = toStandardPrincipal } = options
  const now = runtime === undefined ? Date.now : () => runtime.now()
  const reportAlone = errorListener(options.onError, '@x/auth')
  const onError = limitOutageReports<AuthenticationContext>((error, context) => {
    if (options.onError === undefined && context !== undefined) context.report(error)
    else reportAlone(error)
  }, now)
  const dpop = dpopModeOf(options)
  const challengeSettings = { metadataUrl: createMetadataUrl(resource), scopes, dpop }
  const issuerSettings = {
    resource,
    now,
    onError,
    fetch,
    clockToleranceMs: requireDuration('clockToleranceMs', options.clockToleranceMs ?? defaultClockToleranceMs),
    cacheMs: requireDuration('cacheMs', options.cacheMs ?? defaultCacheMs),
  }
  const proofSettings = { ...(typeof options.dpop === 'object' && options.dpop), resource, now }
  return {
    challenges: {
      bearer: createChallenges(challengeSettings, 'bearer'),
      dpop: createChallenges(challengeSettings, 'dpop'),
    },
    proofVerifier: dpop === undefined ? undefined : createProofVerifier(proofSettings),
    isProofRequired: dpop === 'required',
    certificateOf: options.certificateOf,
    scopes,
    toPrincipal,
    now,
    onError,
    issuers: createIssuers(options.issuers, issuerSettings),
    verifiedTokens: createTokenCache(maxCachedTokens),
    rejectedTokens: createTokenCache(maxCachedTokens),
    localContext: { ledger: createLedger(), callerKey: 'local', report: reportAlone },
    pendingVerifications: new Map(),
    impliedScopes: compileImpliedScopes(options.impliedScopes),
  }
}

function requireDuration(name: string, value: number): number {
  if (value >= 0 && value <= defaultCacheMs) return value
  throw new RangeError(`${name} is ${value}: give milliseconds from 0 to ${defaultCacheMs}`)
}
