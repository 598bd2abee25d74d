import { decodeEnvelope, encodeEnvelope } from '../claims/envelope-cbor.ts'
import { parseEnvelope, stringifyEnvelope } from '../claims/envelope-json.ts'
import type { CreateCipher } from './crypto-provider.ts'
import type { TokenType } from './token-codec.ts'

/** Encrypted tokens: JWE compact, with CBOR in them: a client carries it and never reads it. */
export function createSealedTokenType(createCipher: CreateCipher): TokenType {
  return {
    kind: 'sealed',
    // The header, no encrypted key, a nonce of 12 bytes, the content, a tag of 16 bytes.
    segmentLengths: [undefined, 0, 16, undefined, 22],
    createHeader: (kid) => ({ alg: 'dir', enc: 'A256GCM', kid }),
    writeContent: encodeEnvelope,
    readContent: decodeEnvelope,
    forgedDetail: 'It was altered, made for another purpose, or made with another key of the same id',
    createCipher,
  }
}

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Readable tokens: JWS compact, with JSON in them. */
export function createSignedTokenType(createCipher: CreateCipher): TokenType {
  return {
    kind: 'signed',
    // The header, the content, a MAC of 32 bytes.
    segmentLengths: [undefined, undefined, 43],
    createHeader: (kid, purpose) => ({ alg: 'HS256', kid, typ: purpose }),
    writeContent: (envelope) => encoder.encode(stringifyEnvelope(envelope)),
    readContent: (content) => parseEnvelope(decoder.decode(content)),
    forgedDetail: 'It was altered, or made with another key of the same id',
    createCipher,
  }
}
