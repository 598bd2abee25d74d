import type { Ledger } from '@x/core'
import { isJsonObject, type JsonValue } from '@x/schema'
import { calculateJwkThumbprint, decodeProtectedHeader, EmbeddedJWK, type JWTPayload, jwtVerify } from 'jose'
import type { HttpRequestHead } from './credentials.ts'
import { sha256 } from '../digest.ts'
import { TokenError } from './token-error.ts'
import { asymmetricAlgorithms } from './verify-jwt.ts'

/** Options of the check of proofs of possession (RFC 9449). */
export interface DpopOptions {
  /** Accepts no tokens without a proof. False by default. */
  readonly required?: boolean | undefined
  /**
   * Seals the time into nonces that clients put into their proofs, so that no proof can be made in advance. A codec of
   * `@x/state-codec` with the same keys on every instance, such as the `state` of the server. Without it, proofs need
   * no nonce.
   */
  readonly state?: NonceCodec | undefined
  /** Remembers used proofs over all instances: a store of `@x/state-codec`. By default this process remembers them. */
  readonly usedProofs?: UsedProofs | undefined
}

/** The part of a state codec that nonces need. */
export interface NonceCodec {
  seal(value: JsonValue, claims: { readonly purpose: string }): Promise<string>
  open(token: string, claims: { readonly purpose: string }): Promise<JsonValue>
}

/** The part of a state store that proofs need: returns false for a key that was added before and has not expired. */
export interface UsedProofs {
  add(key: string, value: string, ttlMs: number): Promise<boolean>
}

/** Values against which a proof is checked. */
export interface ProofContext {
  readonly request: HttpRequestHead
  readonly token: string
  /** The thumbprint of the key that the token is bound to. */
  readonly jkt: string
  readonly ledger: Ledger
}

/** Checks the proof of a request. */
export interface ProofVerifier {
  /** Resolves with a nonce when the client must make its proof anew with it. Rejects with a {@link TokenError}. */
  verify(context: ProofContext): Promise<string | undefined>
}

/** Dependencies of the checks beside the options. */
export interface ProofSettings extends DpopOptions {
  readonly resource: string
  readonly now: () => number
}

/** The signature algorithms of proofs, which the metadata and challenges list. */
export const proofAlgorithms = asymmetricAlgorithms

const noncePurpose = 'dpop-nonce'
const proofWindowMs = 60_000
const nonceTtlMs = 300_000
const maxProofLength = 8192

/** Creates the check of proofs (RFC 9449, section 4.3). */
export function createProofVerifier(settings: ProofSettings): ProofVerifier {
  const proofMemory = createProofMemory(settings.now)
  return {
    async verify(context) {
      const proof = readProof(context.request)
      const claims = await verifyProof(proof, context.jkt)
      await checkProofClaims(claims, context, settings)
      const nonce = await renewNonce(claims['nonce'], settings)
      if (nonce !== undefined) return nonce
      // Recorded last, so that a request without a valid proof adds nothing to the store.
      const key = `dpop:${await sha256(`${context.jkt} ${String(claims.jti)}`)}`
      const isNew =
        settings.usedProofs === undefined
          ? proofMemory.add(key, context)
          : await settings.usedProofs.add(key, '1', 2 * proofWindowMs)
      if (!isNew) throw createInvalidProofError('The proof was used before')
      return undefined
    },
  }
}

function createInvalidProofError(message: string): TokenError {
  return new TokenError('invalid_proof', message)
}

function readProof(request: HttpRequestHead): string {
  const [proof, ...others] = request.headerValues('dpop')
  if (proof === undefined) throw createInvalidProofError('There is no DPoP header')
  if (others.length > 0) throw createInvalidProofError('There is more than one DPoP header')
  if (proof.length > maxProofLength)
    throw createInvalidProofError(`The proof is longer than ${maxProofLength} characters`)
  return proof
}

async function verifyProof(proof: string, jkt: string): Promise<JWTPayload> {
  try {
    const { jwk } = decodeProtectedHeader(proof)
    // `jwtVerify` checks no times, because a proof has no expiration time.
    const options = { typ: 'dpop+jwt', algorithms: [...proofAlgorithms] }
    const { payload } = await jwtVerify(proof, EmbeddedJWK, options)
    if (jwk !== undefined && (await calculateJwkThumbprint(jwk)) === jkt) return payload
  } catch {
    throw createInvalidProofError('The proof is no JWT of type dpop+jwt that is signed with the key in it')
  }
  throw createInvalidProofError('The proof is of another key than the token')
}

async function checkProofClaims(
  claims: JWTPayload,
  { request, token }: ProofContext,
  settings: ProofSettings,
): Promise<void> {
  const { jti, iat, htm, htu, ath } = claims
  if (typeof jti !== 'string' || jti === '') throw createInvalidProofError('The proof has no jti')
  if (htm !== request.method) throw createInvalidProofError('The proof is for another method')
  if (removeQuery(htu) !== removeQuery(settings.resource))
    throw createInvalidProofError(`The proof is not for ${settings.resource}`)
  if (typeof iat !== 'number' || !(Math.abs(settings.now() - iat * 1000) <= proofWindowMs))
    throw createInvalidProofError('The proof was not made within the last minute')
  if (ath !== (await sha256(token))) throw createInvalidProofError('The proof is for another token')
}

// RFC 9449, section 4.3: without query and fragment, and normalized.
function removeQuery(url: unknown): string | undefined {
  if (typeof url !== 'string' || !URL.canParse(url)) return undefined
  const { origin, pathname } = new URL(url)
  return origin + pathname
}

async function renewNonce(givenNonce: unknown, { state, now }: ProofSettings): Promise<string | undefined> {
  if (state === undefined) return undefined
  const madeAt = typeof givenNonce === 'string' ? await openNonce(state, givenNonce) : undefined
  const ageMs = madeAt === undefined ? Number.NaN : now() - madeAt
  return ageMs >= -proofWindowMs && ageMs <= nonceTtlMs
    ? undefined
    : state.seal({ madeAt: now() }, { purpose: noncePurpose })
}

async function openNonce(state: NonceCodec, givenNonce: string): Promise<number | undefined> {
  try {
    const value = await state.open(givenNonce, { purpose: noncePurpose })
    const madeAt = isJsonObject(value) ? value['madeAt'] : undefined
    return typeof madeAt === 'number' ? madeAt : undefined
  } catch {
    return undefined
  }
}

/** The proofs of this process. */
interface ProofMemory {
  /** Returns false for a proof that was added before. Throws a {@link LimitError} for a key with too many proofs. */
  add(proofKey: string, context: Pick<ProofContext, 'jkt' | 'ledger'>): boolean
}

/** Proofs that arrived within the same time, with the functions that give them back to the ledger. */
type ProofSlice = Map<string, () => void>

const sliceMs = 30_000
/** A proof is remembered for 120 to 150 seconds, and is valid for 120 at most. */
const sliceCount = 2 * (proofWindowMs / sliceMs) + 1

function createProofMemory(now: () => number): ProofMemory {
  const slices: ProofSlice[] = [new Map()]
  let sliceEndsAt = now() + sliceMs
  const advance = (): void => {
    const elapsedSlices = Math.floor((now() - sliceEndsAt) / sliceMs) + 1
    if (elapsedSlices <= 0) return
    sliceEndsAt += elapsedSlices * sliceMs
    for (let added = 0; added < Math.min(elapsedSlices, sliceCount); added += 1) slices.unshift(new Map())
    for (const slice of slices.splice(sliceCount)) for (const release of slice.values()) release()
  }
  return {
    add: (proofKey, { jkt, ledger }) => {
      advance()
      if (slices.some((slice) => slice.has(proofKey))) return false
      slices[0]?.set(proofKey, ledger.take('proofs', `dpop ${jkt}`))
      return true
    },
  }
}
