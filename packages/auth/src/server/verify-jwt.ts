import { quoteText } from '@x/core'
import type { AuthenticationContext } from '@x/exchange'
import { isJsonObject, type JsonObject } from '@x/schema'
import { type CryptoKey, decodeProtectedHeader, errors, jwtVerify, type JWTVerifyOptions } from 'jose'
import type { IssuerKeys } from './issuer-keys.ts'
import { TokenError, type TokenErrorCode } from './token-error.ts'

/** What a JWT of one issuer must meet. */
export interface JwtRequirements {
  readonly issuer: string
  readonly audience: readonly string[]
  readonly algorithms: readonly string[]
  readonly keys: IssuerKeys
  readonly context: AuthenticationContext
  readonly clockToleranceMs: number
  readonly now: () => number
}

/** All asymmetric, so that an attacker cannot sign with the public key as a shared secret. */
// biome-ignore format: one family a line
export const asymmetricAlgorithms: readonly string[] = [
  'RS256', 'RS384', 'RS512',
  'PS256', 'PS384', 'PS512',
  'ES256', 'ES384', 'ES512',
  'EdDSA', 'Ed25519',
]

// RFC 9068, section 2.1, and `JWT`, which many servers write. Tokens of other types, such as logout tokens or proofs,
// are no access tokens.
const accessTokenTypes: ReadonlySet<unknown> = new Set([undefined, 'at+jwt', 'application/at+jwt', 'jwt'])

/**
 * Verifies an access token, and resolves with its claims (RFC 9068, section 4, and basic/authorization/index, token
 * handling).
 *
 * Rejects with a {@link TokenError}.
 */
export async function verifyJwt(token: string, requirements: JwtRequirements): Promise<JsonObject> {
  const header = readTokenHeader(token)
  if (!requirements.algorithms.includes(header.alg))
    throw new TokenError(
      'unsupported_algorithm',
      `The token is signed with ${quoteText(header.alg)}, which is not accepted`,
    )
  const type = typeof header.typ === 'string' ? header.typ.toLowerCase() : header.typ
  if (!accessTokenTypes.has(type))
    throw new TokenError('unsupported_type', `The token is of type ${quoteText(header.typ)}, not an access token`)
  const { keys, context } = requirements
  return keys.verifyWith(header, context, (candidates) => verifyWithKeys(candidates, token, requirements))
}

function readTokenHeader(token: string): ReturnType<typeof decodeProtectedHeader> & { alg: string } {
  try {
    const header = decodeProtectedHeader(token)
    return { ...header, alg: String(header.alg) }
  } catch (error) {
    throw new TokenError('malformed', 'The header of the token cannot be read', { cause: error })
  }
}

async function verifyWithKeys(
  keys: readonly CryptoKey[],
  token: string,
  requirements: JwtRequirements,
): Promise<JsonObject> {
  const options: JWTVerifyOptions = {
    algorithms: [...requirements.algorithms],
    issuer: requirements.issuer,
    audience: [...requirements.audience],
    requiredClaims: ['exp'],
    clockTolerance: requirements.clockToleranceMs / 1000,
    currentDate: new Date(requirements.now()),
  }
  let failure: unknown
  // More than one only if the token's header has no key id.
  for (const key of keys) {
    try {
      const { payload } = await jwtVerify(token, key, options)
      return parseClaims(payload)
    } catch (error) {
      failure = error
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) break
    }
  }
  throw toTokenError(failure, requirements)
}

function parseClaims(payload: unknown): JsonObject {
  if (isJsonObject(payload)) return payload
  throw new TokenError('malformed', 'The claims of the token are not a JSON object')
}

const tokenErrorCodes: Readonly<Record<string, TokenErrorCode>> = {
  ERR_JWT_EXPIRED: 'expired',
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'invalid_signature',
  ERR_JOSE_ALG_NOT_ALLOWED: 'unsupported_algorithm',
}

// Errors of the library `jose` contain claims, which are personal data, except for the audience.
function toTokenError(error: unknown, { audience }: JwtRequirements): TokenError {
  if (!(error instanceof errors.JOSEError))
    return new TokenError('malformed', 'The token cannot be verified', { cause: error })
  const knownCode = Object.hasOwn(tokenErrorCodes, error.code) ? tokenErrorCodes[error.code] : undefined
  if (knownCode !== undefined) return new TokenError(knownCode, error.message)
  if (error instanceof errors.JWTClaimValidationFailed)
    return new TokenError(selectClaimErrorCode(error.claim), describeClaimFailure(error, audience))
  return new TokenError('malformed', error.message)
}

function describeClaimFailure(
  { claim, message, payload }: errors.JWTClaimValidationFailed,
  audience: readonly string[],
): string {
  if (claim !== 'aud') return message
  const named = payload.aud === undefined ? 'none' : quoteText(payload.aud)
  return `The token is for ${named}, and this server is ${audience.map(quoteText).join(' or ')}`
}

function selectClaimErrorCode(claim: string): TokenErrorCode {
  if (claim === 'aud') return 'wrong_audience'
  return claim === 'nbf' ? 'not_yet_valid' : 'invalid_claim'
}
