import type { AuthenticationContext } from '@x/exchange'
import {
  type Clock,
  createLedger,
  createLog,
  errorRecord,
  type OptionTable,
  optionTypes,
  platformRuntime,
  resolveOptions,
} from '@x/core'
import { platformFetch } from '../bounded-fetch.ts'
import { compileImpliedScopes, type ImpliedScopes, type Scopes } from '../scopes.ts'
import { type AuthenticationState, TokenCache } from './authenticate.ts'
import type { CertificateOf } from './binding.ts'
import { createChallenges } from './challenge.ts'
import { createProofVerifier, type DpopOptions, dpopOptionTable } from './dpop.ts'
import { type IssuerOptions, issuerOptionTable, Issuers, type SharedIssuerSettings } from './issuers.ts'
import { createMetadataUrl } from './metadata.ts'
import { toStandardPrincipal, type ToPrincipal } from './principal.ts'
import { limitOutageReports } from './token-error.ts'

/** Which tokens and requests a server accepts. */
export interface ProtectOptions {
  /**
   * Canonical URI of the endpoint as clients write it, such as `https://mcp.example.com/mcp`, without a slash at its
   * end: https, or http on a loopback address. It is the audience of tokens and the `resource` of the metadata.
   */
  readonly resource: string
  /** Authorization servers whose tokens are accepted. Clients usually choose the first one. */
  readonly issuers: readonly (string | IssuerOptions)[]
  /** Scopes that every request needs. Challenges list them. */
  readonly scopes?: Scopes | undefined
  /** Becomes `scopes_supported` of the metadata. Default: `scopes`. `offline_access` is left out. */
  readonly supportedScopes?: Scopes | undefined
  /** What each scope includes. A principal also gets what the scopes of its token include. */
  readonly impliedScopes?: ImpliedScopes | undefined
  /**
   * Makes the principal from the claims of a verified token, if the default does not fit. It may be async, to read the
   * user's roles from a database: it runs once for each token, and has ten seconds. Throw a {@link TokenError} to reject
   * the token. Code `insufficient_scope` is for a user who may not do this: the response is 403. Code
   * `issuer_unavailable` is for a database that cannot be reached: the response is 503.
   */
  readonly toPrincipal?: ToPrincipal | undefined
  /**
   * Accepts tokens that are bound to a key, if each request carries a proof of the key (RFC 9449). `'accepted'` takes
   * them beside bearer tokens, and `'required'` rejects bearer tokens. By default bound tokens are rejected.
   */
  readonly dpop?: 'accepted' | 'required' | DpopOptions | undefined
  /**
   * Gives a client's certificate in DER format, for tokens that are bound to one (RFC 8705). Without this function such
   * tokens are rejected. For the TLS server of Node: `({ source }) => source.socket.getPeerCertificate().raw`. Behind a
   * proxy that terminates TLS, read a header that the proxy sets, and let it remove that header from incoming requests:
   * otherwise a client can claim any certificate.
   */
  readonly certificateOf?: CertificateOf | undefined
}

/** For the tests of this package. No option, because no server needs other values. */
export type ProtectInternals = {
  readonly [Name in 'now' | 'cacheMs' | 'fetch']?: SharedIssuerSettings[Name] | undefined
} & { readonly clock?: Clock | undefined }

const protectOptionTable = {
  resource: { type: optionTypes.string },
  issuers: undefined,
  scopes: undefined,
  supportedScopes: undefined,
  impliedScopes: undefined,
  toPrincipal: { type: optionTypes.function },
  dpop: {
    type: {
      name: "'accepted', 'required' or an object",
      accepts: (value) => value === 'accepted' || value === 'required' || optionTypes.object.accepts(value),
    },
  },
  certificateOf: { type: optionTypes.function },
} satisfies OptionTable<ProtectOptions>

/**
 * Throws a TypeError for an option that does not exist or has another type, also in `dpop` and `issuers`: a misspelt
 * `required` would accept tokens without a proof.
 */
export function checkProtectOptions(options: ProtectOptions): void {
  resolveOptions(options, protectOptionTable, 'protect')
  const { dpop, issuers } = options
  if (typeof dpop === 'object') resolveOptions({ dpop }, { dpop: { group: dpopOptionTable } }, 'protect')
  if (!Array.isArray(issuers))
    throw new TypeError("issuers must be a list of authorization servers, as in ['https://auth.example.com']")
  for (const [index, entry] of issuers.entries()) {
    const name = `issuers[${index}]`
    if (typeof entry !== 'string')
      resolveOptions({ [name]: entry }, { [name]: { group: issuerOptionTable } }, 'protect')
  }
}

/** Enough for the callers of a few minutes. Each entry takes about a kilobyte. */
const maxCachedTokens = 1000

/** The usual lifetime of a short-lived access token. An expired one never comes from the cache. */
// limit: verified tokens | ms | the age of a verification | the token is verified again
const cacheMs = 300_000

/**
 * How far the clocks of this server and an issuer may differ. Other resource servers accept 30 to 60 seconds, and
 * virtual machines that were suspended need them.
 */
const clockToleranceMs = 30_000

/** Undefined if tokens with a proof are not accepted. */
export function dpopModeOf({ dpop }: ProtectOptions): 'accepted' | 'required' | undefined {
  if (typeof dpop !== 'object') return dpop
  return dpop.required === true ? 'required' : 'accepted'
}

export function createAuthenticationState(
  options: ProtectOptions,
  { resource, scopes }: { readonly resource: string; readonly scopes: Scopes },
  internals: ProtectInternals = {},
): AuthenticationState {
  const { toPrincipal = toStandardPrincipal } = options
  // oxlint-disable-next-line no-restricted-properties -- the default of an option that tests replace
  const { fetch = platformFetch, now = Date.now, clock = platformRuntime } = internals
  const monotonicNow = (): number => clock.monotonicNow()
  const log = createLog(undefined, '@x/auth')
  const reportAlone = (error: unknown): void => log(errorRecord(error))
  const background = { report: reportAlone }
  const onError = limitOutageReports<AuthenticationContext>((error, context) => {
    if (context === undefined) background.report(error)
    else context.report(error)
  }, monotonicNow)
  const dpop = dpopModeOf(options)
  const challengeSettings = { metadataUrl: createMetadataUrl(resource), scopes, dpop }
  const issuerSettings = {
    resource,
    now,
    monotonicNow,
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
    verifyProof: dpop === undefined ? undefined : createProofVerifier(proofSettings),
    isProofRequired: dpop === 'required',
    certificateOf: options.certificateOf,
    scopes,
    toPrincipal,
    now,
    clock,
    onError,
    background,
    issuers: new Issuers(options.issuers, issuerSettings),
    verifiedTokens: new TokenCache(maxCachedTokens),
    rejectedTokens: new TokenCache(maxCachedTokens),
    localContext: { ledger: createLedger(), callerKey: 'local', report: reportAlone },
    pendingVerifications: new Map(),
    impliedScopes: compileImpliedScopes(options.impliedScopes),
  }
}
