import { createHash } from 'node:crypto'
import { calculateJwkThumbprint, EmbeddedJWK, type JWK, jwtVerify } from 'jose'
import type { ReceivedRequest } from './http-script.ts'

/** Thumbprint of the proven key, or an error code of RFC 9449. */
export type CheckedProof = { readonly thumbprint: string } | { readonly error: string }

/** RFC 9449, section 4.3. */
export async function checkProof(
  { headers, method }: ReceivedRequest,
  check: {
    readonly url: string
    readonly accessToken?: string | undefined
    readonly nonce?: string | undefined
    readonly usedProofIds: Set<string>
  },
): Promise<CheckedProof> {
  const invalid = { error: 'invalid_dpop_proof' }
  const { dpop } = headers
  if (typeof dpop !== 'string') return invalid
  try {
    const options = { typ: 'dpop+jwt', algorithms: ['ES256'], maxTokenAge: 60, clockTolerance: 5 }
    const { payload, protectedHeader } = await jwtVerify(dpop, EmbeddedJWK, options)
    const { jti, htm, htu, ath, nonce } = payload
    const jwk: JWK = protectedHeader.jwk ?? {}
    const expected = [method, check.url, tokenHashOf(check.accessToken), undefined]
    if (![htm, htu, ath, jwk.d].every((value, index) => value === expected[index])) return invalid
    if (!isUnusedJti(jti, check.usedProofIds)) return invalid
    if (check.nonce !== undefined && nonce !== check.nonce) return { error: 'use_dpop_nonce' }
    return { thumbprint: await calculateJwkThumbprint(jwk) }
  } catch {
    return invalid
  }
}

function tokenHashOf(access: string | undefined): string | undefined {
  return access === undefined ? undefined : createHash('sha256').update(access).digest('base64url')
}

function isUnusedJti(jti: string | undefined, seen: Set<string>): boolean {
  if (jti === undefined || jti.length < 20 || seen.has(jti)) return false
  seen.add(jti)
  return true
}
