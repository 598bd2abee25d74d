import { parseEnvelope, stringifyEnvelope } from '../claims/envelope-json.ts'
import type { CreateCipher } from './crypto-provider.ts'
import type { TokenType } from './token-codec.ts'

/** Encrypted tokens: JWE compact. A client carries them in every round, so that they leave out names of members. */
export function createSealedTokenType(createCipher: CreateCipher): TokenType {
  return {
    kind: 'sealed',
    // The header, no encrypted key, a nonce of 12 bytes, the content, a tag of 16 bytes.
    segmentLengths: [undefined, 0, 16, undefined, 22],
    createHeader: (kid) => ({ alg: 'dir', enc: 'A256GCM', kid }),
    writeContent: stringifyEnvelope,
    readContent: parseEnvelope,
    forgedDetail: 'It was altered, made for another purpose, or made with another key of the same id',
    createCipher,
  }
}

/** Readable tokens: JWS compact, with every name. */
export function createSignedTokenType(createCipher: CreateCipher): TokenType {
  return {
    kind: 'signed',
    // The header, the content, a MAC of 32 bytes.
    segmentLengths: [undefined, undefined, 43],
    createHeader: (kid, purpose) => ({ alg: 'HS256', kid, typ: purpose }),
    writeContent: (envelope) => stringifyEnvelope(envelope),
    readContent: (content) => parseEnvelope(content),
    forgedDetail: 'It was altered, or made with another key of the same id',
    createCipher,
  }
}
