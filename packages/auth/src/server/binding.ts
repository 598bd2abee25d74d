import type { Ledger } from '@x/core'
import { isJsonObject, type JsonObject } from '@x/schema'
import type { AccessToken, HttpRequestHead } from './credentials.ts'
import type { ProofVerifier } from './dpop.ts'
import { sha256 } from '../digest.ts'
import { TokenError } from './token-error.ts'

/** The key to which a token is bound, so that no other client can use it (RFC 7800). */
export interface TokenBinding {
  /** The thumbprint of a key, of which each request brings a proof (RFC 9449). */
  readonly jkt?: string
  /** The digest of the certificate of the connection (RFC 8705). */
  readonly certificateThumbprint?: string
}

/** Returns the certificate, as DER, with which the client of a request authenticated to TLS. */
export type CertificateOf = (request: HttpRequestHead) => Uint8Array | undefined

/** Options of the check of bindings. */
export interface BindingOptions {
  /** Undefined where tokens with a proof are not accepted. */
  readonly proofVerifier: ProofVerifier | undefined
  readonly isProofRequired: boolean
  readonly certificateOf: CertificateOf | undefined
}

/**
 * Reads the key that a token is bound to, or undefined for a bearer token. Throws a {@link TokenError} for a binding of
 * another kind.
 */
export function parseTokenBinding({ cnf }: JsonObject): TokenBinding | undefined {
  if (cnf === undefined) return undefined
  const { jkt, 'x5t#S256': certificateThumbprint, ...others } = isJsonObject(cnf) ? cnf : { cnf }
  const isSupported = Object.keys(others).length === 0 && isOptionalText(jkt) && isOptionalText(certificateThumbprint)
  if (!isSupported || (jkt ?? certificateThumbprint) === undefined)
    throw new TokenError('invalid_claim', 'The token is bound in a way that cannot be checked here')
  return { ...(jkt !== undefined && { jkt }), ...(certificateThumbprint !== undefined && { certificateThumbprint }) }
}

function isOptionalText(value: unknown): value is string | undefined {
  return value === undefined || (typeof value === 'string' && value !== '')
}

/** Returns true for a bearer token that needs no check of a binding, as most tokens are. */
export function isPlainBearer(
  binding: TokenBinding | undefined,
  scheme: AccessToken['scheme'],
  { isProofRequired }: BindingOptions,
): boolean {
  return binding === undefined && scheme === 'bearer' && !isProofRequired
}

/** A request with the binding of its token. */
interface BoundRequest {
  readonly request: HttpRequestHead
  readonly binding: TokenBinding | undefined
  readonly ledger: Ledger
}

/**
 * Checks that a token came from the client that it is bound to. Resolves with a nonce when the client must make its
 * proof anew with it. Rejects with a {@link TokenError}.
 */
export async function verifyBinding(
  { token, scheme }: AccessToken,
  { request, binding = {}, ledger }: BoundRequest,
  { proofVerifier, isProofRequired, certificateOf }: BindingOptions,
): Promise<string | undefined> {
  const { jkt, certificateThumbprint } = binding
  // RFC 9449, section 7.1: a bound token is no bearer token, and the other way round.
  if ((scheme === 'dpop') !== (jkt !== undefined))
    throw new TokenError('wrong_scheme', `The token does not belong behind the scheme ${scheme}`)
  if (jkt === undefined && isProofRequired) throw new TokenError('wrong_scheme', 'The token is bound to no key')
  if (certificateThumbprint !== undefined) await checkCertificate(certificateThumbprint, certificateOf?.(request))
  if (jkt === undefined) return undefined
  if (proofVerifier === undefined)
    throw new TokenError('wrong_scheme', 'Tokens with a proof are not accepted: see the option dpop')
  return proofVerifier.verify({ request, token, jkt, ledger })
}

async function checkCertificate(expectedDigest: string, sentCertificate: Uint8Array | undefined): Promise<void> {
  if (sentCertificate === undefined)
    throw new TokenError('wrong_certificate', 'The token is bound to a certificate, and the connection shows none')
  if ((await sha256(sentCertificate)) !== expectedDigest)
    throw new TokenError('wrong_certificate', 'The token is bound to another certificate than that of the connection')
}
