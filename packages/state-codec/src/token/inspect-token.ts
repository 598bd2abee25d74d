import { checkArgument } from '@x/core'
import type { JsonValue } from '@x/core'
import { createWebEncryption, createWebSigning, webCrypto } from './crypto-provider-web.ts'
import { createTokenReader, type KeyedOptions, parseHeader } from './token-codec.ts'
import { createSealedTokenType, createSignedTokenType } from './token-types.ts'

/** The keys and the purpose of a token. */
export interface InspectOptions extends Pick<KeyedOptions, 'keys'> {
  /** The purpose that the token was sealed for. */
  readonly purpose: string
  /** The member names that the token was sealed with. */
  readonly memberNames?: readonly string[] | undefined
}

/** The content of a token, as an operator looks at it. Times are milliseconds since 1970. */
export interface TokenReport {
  /** The id of the key that sealed the token. */
  readonly keyId: string
  readonly sealedAt: number
  /** The time at which the token expires, or expired. */
  readonly expiresAt: number
  /** The start of the token's flow. */
  readonly since: number
  readonly audience: string | undefined
  readonly value: JsonValue
}

/**
 * Decrypts a token of `sealedState` or `signedState` with the keys alone, for operators. It checks that the token was
 * made with one of the keys, and neither expiry nor audience nor binding. So the value is only looked at: a program that
 * acts on it must use `open` of the codec.
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
  // The header belongs to a key of the ring, because the token was decrypted.
  const keyId = parseHeader(segments[0] ?? '')?.kid ?? ''
  return { keyId, sealedAt: at, expiresAt: until, since, audience: aud, value }
}
