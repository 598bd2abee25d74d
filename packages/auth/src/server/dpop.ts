import type { Ledger } from '@x/core'
import { isJsonObject, type JsonValue } from '@x/schema'
import { calculateJwkThumbprint, decodeProtectedHeader, EmbeddedJWK, type JWTPayload, jwtVerify } from 'jose'
import type { HttpRequestHead } from './credentials.ts'
import { sha256 } from '../digest.ts'
import { TokenError } from './token-error.ts'
import { asymmetricAlgorithms } from './verify-jwt.ts'

/** Options for proofs of possession (RFC 9449). */
export interface DpopOptions {
  /** True rejects tokens without a proof. Default: false. */
  readonly required?: boolean | undefined
  /**
   * A codec of `@x/state-codec`, such as the `state` of the server. All instances must use the same keys. It creates
   * nonces that contain the time, and clients put these nonces into their proofs, so that no proof can be made in
   * advance. Without a codec, proofs need no nonce.
   */
  readonly state?: NonceCodec | undefined
  /**
   * A store of `@x/state-codec` that records used proofs for all instances. By default each process records only the
   * proofs that it has received.
   */
  readonly usedProofs?: UsedProofs | undefined
}

/** The part of a state codec that creates and opens nonces. */
export interface NonceCodec {
  seal(value: JsonValue, context: { readonly purpose: string }): Promise<string>
  open(token: string, context: { readonly purpose: string; readonly reusable: boolean }): Promise<JsonValue>
}

/**
 * The part of a state store that records proofs. `add` returns false if the key was added before and has not expired.
 */
export interface UsedProofs {
  add(key: string, value: string, ttlMs: number): Promise<boolean>
}

/** The values against which a proof is checked. */
export interface ProofContext {
  readonly request: HttpRequestHead
  readonly token: string
  /** The thumbprint of the key to which the token is bound. */
  readonly jkt: string
  readonly ledger: Ledger
}

/** Checks the proof in a request. */
export interface ProofVerifier {
  /**
   * Resolves with a nonce if the client must create a new proof that contains it. Rejects with a {@link TokenError}.
   */
  verify(context: ProofContext): Promise<string | undefined>
}

/** Dependencies for checking proofs, in addition to the options. */
export interface ProofSettings extends DpopOptions {
  readonly resource: string
  readonly now: () => number
}

/** The accepted signature algorithms of proofs. The metadata and the challenges list them. */
export const proofAlgorithms = asymmetricAlgorithms

const noncePurpose = 'dpop-nonce'
const proofWindowMs = 60_000
const nonceTtlMs = 300_000
const maxProofLength = 8192

/** Creates a verifier of proofs (RFC 9449, section 4.3). */
export function createProofVerifier(settings: ProofSettings): ProofVerifier {
  const recordProof = createProofRecorder(settings.now)
  return {
    async verify(context) {
      const proof = readProof(context.request)
      const claims = await verifyProof(proof, context.jkt)
      await checkProofClaims(claims, context, settings)
      const nonce = await renewNonce(claims['nonce'], settings)
      if (nonce !== undefined) return nonce
      // The proof is recorded after all checks, so that an invalid proof adds nothing to the store.
      const key = `dpop:${await sha256(`${context.jkt} ${String(claims.jti)}`)}`
      const isNew =
        settings.usedProofs === undefined
          ? recordProof(key, context)
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
    // `jwtVerify` does not check the age of a proof, because a proof has no expiration time. `checkProofClaims` checks
    // it.
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

// RFC 9449, section 4.3: URLs are compared in normalized form, without query and fragment.
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
    const value = await state.open(givenNonce, { purpose: noncePurpose, reusable: true })
    const madeAt = isJsonObject(value) ? value['madeAt'] : undefined
    return typeof madeAt === 'number' ? madeAt : undefined
  } catch {
    return undefined
  }
}

/** The proofs that arrived within one slice of time. Each proof has a function that releases it in the ledger. */
type ProofSlice = Map<string, () => void>

const sliceMs = 30_000
/** The number of slices. A proof is recorded for 120 to 150 seconds, and is valid for at most 120 seconds. */
const sliceCount = 2 * (proofWindowMs / sliceMs) + 1

/**
 * Creates a function that records the proofs that this process receives. It returns false for a proof that was recorded
 * before, and throws a {@link LimitError} if a key has too many proofs.
 */
function createProofRecorder(
  now: () => number,
): (proofKey: string, context: Pick<ProofContext, 'jkt' | 'ledger'>) => boolean {
  const slices: ProofSlice[] = [new Map()]
  let sliceEndsAt = now() + sliceMs
  const advance = (): void => {
    const elapsedSlices = Math.floor((now() - sliceEndsAt) / sliceMs) + 1
    if (elapsedSlices <= 0) return
    sliceEndsAt += elapsedSlices * sliceMs
    for (let added = 0; added < Math.min(elapsedSlices, sliceCount); added += 1) slices.unshift(new Map())
    for (const slice of slices.splice(sliceCount)) for (const release of slice.values()) release()
  }
  return (proofKey, { jkt, ledger }) => {
    advance()
    if (slices.some((slice) => slice.has(proofKey))) return false
    slices[0]?.set(proofKey, ledger.take('proofs', `dpop ${jkt}`))
    return true
  }
}
