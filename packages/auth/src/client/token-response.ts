import { quoteText } from '@x/core'
import type { JsonObject } from '@x/schema'
import { AuthError } from './auth-error.ts'
import { readJsonObject } from './fetch-server.ts'

export interface TokenResponse {
  readonly accessToken: string
  /** In lower case. */
  readonly tokenType: string
  readonly refreshToken: string | undefined
  readonly expiresInMs: number | undefined
  readonly issuedTokenType: string | undefined
}

/**
 * RFC 6749, section 5. An optional member of another type counts as absent, and members that no login uses are not
 * read: the id_token of a server that signs it with a lost key says nothing about the access token. Throws
 * {@link AuthError} `token_rejected`.
 */
export async function readTokenResponse(response: Response, issuer: string): Promise<TokenResponse> {
  const fields = (await readJsonObject(response)) ?? {}
  const { access_token: accessToken, token_type: tokenType, refresh_token: refreshToken } = fields
  if (!response.ok || typeof accessToken !== 'string') throw createRejection(response, fields, issuer)
  // RFC 6750, section 2.1: no header could carry a token with other characters.
  if (!/^[\x21-\x7e]+$/.test(accessToken)) throw createUnusableError(issuer, 'the access token is not well-formed')
  if (typeof tokenType !== 'string') throw createUnusableError(issuer, 'it has no token_type, such as "Bearer"')
  const { expires_in: expiresIn, issued_token_type: issuedTokenType } = fields
  return {
    accessToken,
    tokenType: tokenType.toLowerCase(),
    refreshToken: typeof refreshToken === 'string' && refreshToken !== '' ? refreshToken : undefined,
    expiresInMs: parseLifetimeMs(expiresIn),
    issuedTokenType: typeof issuedTokenType === 'string' ? issuedTokenType : undefined,
  }
}

/** Some servers send the seconds as a string. */
function parseLifetimeMs(seconds: unknown): number | undefined {
  const count = typeof seconds === 'string' && seconds.trim() !== '' ? Number(seconds) : seconds
  return typeof count === 'number' && count >= 0 ? count * 1000 : undefined
}

/** A successful response of another endpoint must be a JSON object. Throws {@link AuthError} `token_rejected`. */
export async function readServerResponse(response: Response, issuer: string): Promise<JsonObject> {
  const fields = (await readJsonObject(response)) ?? {}
  if (response.ok) return fields
  throw createRejection(response, fields, issuer)
}

/** Some servers send an error with the status 200. */
function createRejection({ status }: Response, fields: JsonObject, issuer: string): AuthError {
  const { code, description } = parseOAuthError(fields)
  if (code === undefined) return createUnusableError(issuer, `it has the status ${status} and no access_token or error`)
  const details = description === undefined ? '' : `: ${quoteText(maskTokens(description))}`
  const message = `The authorization server ${quoteText(issuer)} refused with ${quoteText(code)}${details}`
  return new AuthError('token_rejected', message, { issuer, error: code })
}

/** `reason` must not contain a part of the response. */
export function createUnusableError(issuer: string, reason: string): AuthError {
  const message = `The authorization server ${quoteText(issuer)} sent no usable answer: ${reason}`
  return new AuthError('token_rejected', message, { issuer })
}

// Some servers repeat the refused assertion in their error description, and it may be valid at another server.
function maskTokens(description: string): string {
  return description.replaceAll(/\beyJ[\w-]+(?:\.[\w-]*)*/g, '…')
}

/** RFC 6749, section 5.2. */
export function parseOAuthError({ error, error_description: description }: JsonObject): {
  readonly code: string | undefined
  readonly description: string | undefined
} {
  return {
    code: typeof error === 'string' && error !== '' ? error : undefined,
    description: typeof description === 'string' && description !== '' ? description : undefined,
  }
}
