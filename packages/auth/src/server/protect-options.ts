import { createLedger, createLog, errorRecord } from '@x/core'
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
  /** Fetches from the authorization servers. The platform's own by default. */
  readonly fetch?: FetchFunction | undefined
}

/** Values that the tests of this package replace. They are no options, because no server needs other values. */
export interface ProtectInternals {
  readonly now?: (() => number) | undefined
  readonly cacheMs?: number | undefined
}

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
  fetch: true,
}

/** Verified tokens in memory: enough for the callers of some minutes, at about a kilobyte each. */
const maxCachedTokens = 1000

/** Longest time for which a verified token is cached, never past its end: as short as an access token usually lives. */
const cacheMs = 300_000

/** Accepted difference between the clocks of this server and of an issuer, which NTP keeps well below a second. */
const clockToleranceMs = 5000

/** Returns the role of proofs, or undefined where tokens with a proof are not accepted. */
export function dpopModeOf({ dpop }: ProtectOptions): 'accepted' | 'required' | undefined {
  if (typeof dpop !== 'object') return dpop
  return dpop.required === true ? 'required' : 'accepted'
}

/** Creates the settings and caches of {@link protect} from its options. */
export function createAuthenticationState(
  options: ProtectOptions,
  { resource, scopes }: { readonly resource: string; readonly scopes: Scopes },
  internals: ProtectInternals = {},
): AuthenticationState {
  const { fetch = platformFetch, toPrincipal = toStandardPrincipal } = options
  const now = internals.now ?? Date.now
  const log = createLog(undefined, '@x/auth')
  const reportAlone = (error: unknown): void => log(errorRecord(error))
  const onError = limitOutageReports<AuthenticationContext>((error, context) => {
    if (context === undefined) reportAlone(error)
    else context.report(error)
  }, now)
  const dpop = dpopModeOf(options)
  const challengeSettings = { metadataUrl: createMetadataUrl(resource), scopes, dpop }
  const issuerSettings = {
    resource,
    now,
    onError,
    fetch,
    clockToleranceMs,
    cacheMs: internals.cacheMs ?? cacheMs,
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
