import { isUnavailable, type Ledger, objectWith, type OptionTable, optionTypes } from '@x/core'
import { isJsonObject } from '@x/schema'
import type { StateCodec, StateStore } from '@x/state-codec'
import { calculateJwkThumbprint, decodeProtectedHeader, EmbeddedJWK, type JWTPayload, jwtVerify } from 'jose'
import type { HttpRequestHead } from './credentials.ts'
import { sha256 } from '../digest.ts'
import type { SharedIssuerSettings } from './issuers.ts'
import { TokenError } from './token-error.ts'
import { asymmetricAlgorithms } from './verify-jwt.ts'

/** How proofs of possession are checked (RFC 9449). */
export interface DpopOptions {
  /** Rejects tokens without a proof. Default: false. */
  readonly required?: boolean | undefined
  /**
   * A codec of `@x/state-codec`, such as the `state` of the server, with the same keys on all instances. Its nonces
   * contain the time, and clients put them into their proofs, so that no proof can be made in advance. Without a codec,
   * proofs need no nonce.
   */
  readonly state?: Pick<StateCodec, 'seal' | 'open'> | undefined
  /**
   * A store of `@x/state-codec` in which all instances record used proofs. By default each process records only those
   * that it has received.
   */
  readonly usedProofs?: Pick<StateStore, 'add'> | undefined
}

export const dpopOptionTable = {
  required: { type: optionTypes.boolean },
  state: { type: objectWith(['seal', 'open'], 'a codec, such as sealedState({ keys })') },
  usedProofs: { type: objectWith(['add'], 'a store of @x/state-codec') },
} satisfies OptionTable<DpopOptions>

/** What a proof is checked against. */
export interface ProofContext {
  readonly request: HttpRequestHead
  readonly token: string
  /** Thumbprint of the key to which the token is bound. */
  readonly jkt: string
  readonly ledger: Ledger
}

export type ProofSettings = DpopOptions & Pick<SharedIssuerSettings, 'resource' | 'now'>

/** Accepted signature algorithms, which the metadata and the challenges list. */
export const proofAlgorithms = asymmetricAlgorithms

const noncePurpose = 'dpop-nonce'
const proofWindowMs = 60_000
const nonceTtlMs = 300_000
const maxProofLength = 8192

/**
 * RFC 9449, section 4.3. The function resolves with a nonce if the client must make a new proof that contains it, and
 * rejects with a {@link TokenError}.
 */
export function createProofVerifier(settings: ProofSettings): (context: ProofContext) => Promise<string | undefined> {
  const recordProof = createProofRecorder(settings.now)
  return async (context) => {
    const proof = readProof(context.request)
    const claims = await verifyProof(proof, context.jkt)
    const madeAt = await checkProofClaims(claims, context, settings)
    const nonce = await renewNonce(claims['nonce'], settings)
    if (nonce !== undefined) return nonce
    // Recorded after all checks, so that an invalid proof adds nothing to the store.
    const key = `dpop:${await sha256(`${context.jkt} ${String(claims.jti)}`)}`
    const isNew =
      settings.usedProofs === undefined
        ? recordProof(key, madeAt, context)
        : await settings.usedProofs.add(key, '1', 2 * proofWindowMs)
    if (!isNew) throw createInvalidProofError('The proof was used before')
    return undefined
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
    // `jwtVerify` does not check a proof's age, because a proof has no expiration time; `checkProofClaims` does.
    const options = { typ: 'dpop+jwt', algorithms: [...proofAlgorithms] }
    const { payload } = await jwtVerify(proof, EmbeddedJWK, options)
    if (jwk !== undefined && (await calculateJwkThumbprint(jwk)) === jkt) return payload
  } catch {
    throw createInvalidProofError('The proof is not a JWT of type dpop+jwt, signed with the key in its header')
  }
  throw createInvalidProofError('The proof is signed with another key than the token is bound to')
}

/** Resolves with the time at which the proof was made. */
async function checkProofClaims(
  claims: JWTPayload,
  { request, token }: ProofContext,
  settings: ProofSettings,
): Promise<number> {
  const { jti, iat, htm, htu, ath } = claims
  if (typeof jti !== 'string' || jti === '') throw createInvalidProofError('The proof has no jti')
  if (htm !== request.method) throw createInvalidProofError('The proof is for another method')
  if (removeQuery(htu) !== removeQuery(settings.resource))
    throw createInvalidProofError(`The proof is not for ${settings.resource}`)
  if (typeof iat !== 'number' || !(Math.abs(settings.now() - iat * 1000) <= proofWindowMs))
    throw createInvalidProofError('The proof was not made within the last minute')
  if (ath !== (await sha256(token))) throw createInvalidProofError('The proof is for another token')
  return iat * 1000
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

async function openNonce(state: NonNullable<DpopOptions['state']>, givenNonce: string): Promise<number | undefined> {
  try {
    const value = await state.open(givenNonce, { purpose: noncePurpose, reusable: true })
    const madeAt = isJsonObject(value) ? value['madeAt'] : undefined
    return typeof madeAt === 'number' ? madeAt : undefined
  } catch (error) {
    if (isUnavailable(error)) throw error
    return undefined
  }
}

type ProofSlice = Map<string, () => void>

const sliceMs = 30_000

/**
 * Proofs are filed by the time at which they were made. So if the clock is set back, the earlier proofs stay, because
 * their time can be right again, and the later ones are forgotten in time all the same.
 */
function createProofRecorder(
  now: () => number,
): (proofKey: string, madeAt: number, context: Pick<ProofContext, 'jkt' | 'ledger'>) => boolean {
  // Bounded by the proofs of the ledger.
  const slices = new Map<number, ProofSlice>()
  const forgetOldProofs = (): void => {
    const firstNumber = Math.floor((now() - proofWindowMs) / sliceMs)
    for (const [number, slice] of slices) {
      if (number >= firstNumber) continue
      slices.delete(number)
      for (const release of slice.values()) release()
    }
  }
  return (proofKey, madeAt, { jkt, ledger }) => {
    forgetOldProofs()
    for (const slice of slices.values()) if (slice.has(proofKey)) return false
    const release = ledger.take('proofs', `dpop ${jkt}`)
    const number = Math.floor(madeAt / sliceMs)
    const slice: ProofSlice = slices.get(number) ?? new Map()
    slices.set(number, slice.set(proofKey, release))
    return true
  }
}
