import { checkArgument } from '@x/core'
import type { JsonValue } from '@x/core'
import { createWebEncryption, createWebSigning, webCrypto } from './crypto-provider-web.ts'
import { createTokenReader, type KeyedOptions, parseHeader } from './token-codec.ts'
import { createSealedTokenType, createSignedTokenType } from './token-types.ts'

/** Keys and purpose of a token. */
export interface InspectOptions extends Pick<KeyedOptions, 'keys'> {
  /** What the token was sealed for. */
  readonly purpose: string
  /** Member names that the token was sealed with. */
  readonly memberNames?: readonly string[] | undefined
}

/** A token's content, as an operator looks at it. Times are milliseconds since 1970. */
export interface TokenReport {
  /** Id of the key that sealed the token. */
  readonly keyId: string
  readonly sealedAt: number
  /** When the token expires, or expired. */
  readonly expiresAt: number
  /** When the token's flow began. */
  readonly since: number
  readonly audience: string | undefined
  readonly value: JsonValue
}

/**
 * Decrypts a token of `sealedState` or `signedState` with the keys alone, for operators. It checks that one of the keys
 * made the token, and neither expiry nor audience nor binding. So only look at the value: a program that acts on it
 * must use `open` of the codec.
 *
 * @throws StateError for a token that was altered, or made with another key or for another purpose.
 * @throws StateUsageError for invalid keys.
 */
export async function inspectToken(token: string, options: InspectOptions): Promise<TokenReport> {
  checkArgument(options, {
    where: 'inspectToken',
    takes: 'a token and an object with keys',
    needs: ['keys', 'purpose'],
  })
  const { keys, purpose, memberNames = [] } = options
  const segments = token.split('.')
  // The signed type has three segments, and the sealed type five.
  const type =
    segments.length === 3 ? createSignedTokenType(createWebSigning) : createSealedTokenType(createWebEncryption)
  const content = await createTokenReader(type, keys, webCrypto).decryptToken(token, purpose)
  const { at, until, since, aud, value } = type.readContent(content, memberNames)
  // The token was decrypted, so the header belongs to a key of the ring.
  const keyId = parseHeader(segments[0] ?? '')?.kid ?? ''
  return { keyId, sealedAt: at, expiresAt: until, since, audience: aud, value }
}
