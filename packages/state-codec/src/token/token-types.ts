import { parseEnvelope, stringifyEnvelope } from '../envelope/envelope-json.ts'
import type { CreateCipher } from './crypto-provider.ts'
import type { TokenType } from './token-codec.ts'

/**
 * Encrypted tokens (JWE compact). Their payload is an array without the names of the members that every token has:
 * clients send a token with every round, so it is short.
 */
export function createSealedTokenType(createCipher: CreateCipher): TokenType {
  return {
    kind: 'sealed',
    // Header, no encrypted key, a nonce of 12 bytes, the content, and a tag of 16 bytes.
    segmentLengths: [undefined, 0, 16, undefined, 22],
    createHeader: (kid) => ({ alg: 'dir', enc: 'A256GCM', kid }),
    writeContent: stringifyEnvelope,
    readContent: parseEnvelope,
    forgedDetail: 'It was altered, made for another purpose, or made with another key of the same id',
    createCipher,
  }
}

/** Readable tokens (JWS compact). They contain every member name. */
export function createSignedTokenType(createCipher: CreateCipher): TokenType {
  return {
    kind: 'signed',
    // Header, content, and a MAC of 32 bytes.
    segmentLengths: [undefined, undefined, 43],
    createHeader: (kid, purpose) => ({ alg: 'HS256', kid, typ: purpose }),
    writeContent: (envelope) => stringifyEnvelope(envelope),
    readContent: (content) => parseEnvelope(content),
    forgedDetail: 'It was altered, or made with another key of the same id',
    createCipher,
  }
}
