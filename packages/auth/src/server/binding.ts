import { type Ledger, requireSync } from '@x/core'
import { isJsonObject, type JsonObject } from '@x/schema'
import type { AccessToken, HttpRequestHead } from './credentials.ts'
import type { createProofVerifier } from './dpop.ts'
import { sha256 } from '../digest.ts'
import { TokenError } from './token-error.ts'

/** Key or certificate to which a token is bound, so that no other client can use it (RFC 7800). */
export interface TokenBinding {
  /** Thumbprint of a key, of which each request carries a proof (RFC 9449). */
  readonly jkt?: string
  /** Digest of the connection's client certificate (RFC 8705). */
  readonly certificateThumbprint?: string
}

/** Gives the client certificate of a request's TLS connection in DER format, or undefined if there is none. */
export type CertificateOf = (request: HttpRequestHead) => Uint8Array | undefined

export interface BindingOptions {
  /** Undefined if tokens that need a proof are not accepted. */
  readonly verifyProof: ReturnType<typeof createProofVerifier> | undefined
  readonly isProofRequired: boolean
  readonly certificateOf: CertificateOf | undefined
}

/** Undefined for a bearer token. Throws a {@link TokenError} for an unsupported kind of binding. */
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

/** Most tokens need no check of a binding. */
export function isPlainBearer(
  binding: TokenBinding | undefined,
  scheme: AccessToken['scheme'],
  { isProofRequired }: BindingOptions,
): boolean {
  return binding === undefined && scheme === 'bearer' && !isProofRequired
}

/**
 * Checks that a request comes from the client to which its token is bound. Resolves with a nonce if the client must
 * send the request again, with a proof that contains it. Rejects with a {@link TokenError}.
 */
export async function verifyBinding(
  { token, scheme }: AccessToken,
  binding: TokenBinding | undefined,
  { request, ledger }: { readonly request: HttpRequestHead; readonly ledger: Ledger },
  { verifyProof, isProofRequired, certificateOf }: BindingOptions,
): Promise<string | undefined> {
  const { jkt, certificateThumbprint } = binding ?? {}
  // RFC 9449, section 7.1: a token that is bound to a key needs the scheme DPoP, and any other token the scheme Bearer.
  if ((scheme === 'dpop') !== (jkt !== undefined))
    throw new TokenError('wrong_scheme', `The token must not be sent with the scheme ${scheme}`)
  if (jkt === undefined && isProofRequired) throw new TokenError('wrong_scheme', 'The token is bound to no key')
  if (certificateThumbprint !== undefined)
    await checkCertificate(certificateThumbprint, requireSync('certificateOf', certificateOf?.(request)))
  if (jkt === undefined) return undefined
  if (verifyProof === undefined)
    throw new TokenError('wrong_scheme', 'Tokens with a proof are not accepted: see the option dpop')
  return verifyProof({ request, token, jkt, ledger })
}

async function checkCertificate(expectedDigest: string, sentCertificate: Uint8Array | undefined): Promise<void> {
  if (sentCertificate === undefined)
    throw new TokenError('wrong_certificate', 'The token is bound to a certificate, and the connection shows none')
  if ((await sha256(sentCertificate)) !== expectedDigest)
    throw new TokenError('wrong_certificate', 'The token is bound to another certificate than that of the connection')
}
