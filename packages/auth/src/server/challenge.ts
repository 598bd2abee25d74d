import { formatRetryAfter } from '@x/core'
import type { HttpErrorResponse } from '@x/exchange'
import { errorCodes } from '@x/schema'
import { proofAlgorithms } from './dpop.ts'
import type { Scopes } from '../scopes.ts'

/** Responses that reject requests. */
export interface Challenges {
  /** For a request without credentials. Its challenge contains no error (RFC 6750, section 3.1). */
  readonly missingToken: HttpErrorResponse
  /** For every invalid token, whatever is wrong with it. */
  readonly invalidToken: HttpErrorResponse
  readonly malformedRequest: HttpErrorResponse
  /** For an invalid proof of a token (RFC 9449, section 7.1). */
  readonly invalidProof: HttpErrorResponse
  /** For a token that cannot be checked at present. Not a 401, which would make every client log in again. */
  createUnavailableResponse(retryAfterMs: number | undefined): HttpErrorResponse
  /** Asks for a new proof with this nonce (RFC 9449, section 9). */
  createNonceChallenge(nonce: string): HttpErrorResponse
  /**
   * For missing scopes. Its challenge lists all that the operation needs (basic/authorization/index, scope challenge
   * handling).
   */
  createScopeChallenge(scopes: Scopes): HttpErrorResponse
}

type ChallengeParameters = Readonly<Record<string, string>>

/** `scopes` are those that every request needs. */
export function createChallenges(
  {
    metadataUrl,
    scopes,
    dpop,
  }: { readonly metadataUrl: string; readonly scopes: Scopes; readonly dpop: 'accepted' | 'required' | undefined },
  scheme: 'bearer' | 'dpop',
): Challenges {
  const scope = scopes.join(' ')
  const createChallengeResponse = (
    status: number,
    message: string,
    parameters: ChallengeParameters,
  ): HttpErrorResponse => {
    const allParameters = { ...parameters, resource_metadata: metadataUrl }
    return { status, message, headers: { 'WWW-Authenticate': writeChallenge(allParameters, dpop, scheme) } }
  }
  const invalidProofMessage = 'Send a fresh proof for this request and this token in the DPoP header'
  return {
    missingToken: createChallengeResponse(401, 'Send an access token', { scope }),
    invalidToken: createChallengeResponse(401, 'The access token is not valid here', { error: 'invalid_token', scope }),
    malformedRequest: createChallengeResponse(
      400,
      'Send one Authorization header: "Bearer", a space and the access token',
      {
        error: 'invalid_request',
      },
    ),
    invalidProof: createChallengeResponse(401, invalidProofMessage, { error: 'invalid_dpop_proof' }),
    createUnavailableResponse,
    createNonceChallenge(nonce) {
      const { headers, ...others } = createChallengeResponse(401, 'Make the proof with the nonce in DPoP-Nonce', {
        error: 'use_dpop_nonce',
      })
      return { ...others, headers: { ...headers, 'DPoP-Nonce': nonce, 'Cache-Control': 'no-store' } }
    },
    createScopeChallenge: (neededScopes) =>
      createChallengeResponse(403, describeMissingScopes(neededScopes), {
        error: 'insufficient_scope',
        scope: neededScopes.join(' '),
      }),
  }
}

/** Without scopes, `toPrincipal` has rejected the token for what the user may do. */
function describeMissingScopes(scopes: Scopes): string {
  return scopes.length === 0 ? 'The access token does not allow this' : `This needs the scopes ${scopes.join(' ')}`
}

const defaultRetryAfterMs = 5000

function createUnavailableResponse(retryAfterMs: number = defaultRetryAfterMs): HttpErrorResponse {
  return {
    status: 503,
    message: 'The access token cannot be checked at present: try again',
    code: errorCodes.internal,
    data: { reason: 'unavailable', retryAfterMs, begun: false },
    headers: { 'Retry-After': formatRetryAfter(retryAfterMs) },
  }
}

// The error goes into the challenge of the scheme that the request used. The other scheme is listed too, if it is
// accepted.
function writeChallenge(
  parameters: ChallengeParameters,
  dpop: 'accepted' | 'required' | undefined,
  usedScheme: 'bearer' | 'dpop',
): string {
  const bearerChallenge = `Bearer ${writeParameters(parameters)}`
  if (dpop === undefined) return bearerChallenge
  const algs = proofAlgorithms.join(' ')
  if (dpop === 'accepted' && usedScheme === 'bearer') return `${bearerChallenge}, DPoP ${writeParameters({ algs })}`
  const dpopChallenge = `DPoP ${writeParameters({ ...parameters, algs })}`
  return dpop === 'required'
    ? dpopChallenge
    : `${dpopChallenge}, Bearer ${writeParameters({ resource_metadata: parameters['resource_metadata'] ?? '' })}`
}

function writeParameters(parameters: ChallengeParameters): string {
  return Object.entries(parameters)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}="${value}"`)
    .join(', ')
}
