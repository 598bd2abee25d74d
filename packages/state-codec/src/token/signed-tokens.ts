import { parseEnvelope, stringifyEnvelope } from '../claims/envelope-json.ts'
import type { CreateCipher } from './crypto-provider.ts'
import type { TokenType } from './token-codec.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Readable tokens: JWS compact, with JSON in them. */
export function createSignedTokenType(createCipher: CreateCipher): TokenType {
  return {
    kind: 'signed',
    // The header, the content, a MAC of 32 bytes.
    segmentLengths: [undefined, undefined, 43],
    headerOf: (kid, purpose) => ({ alg: 'HS256', kid, typ: purpose }),
    writeContent: (envelope) => encoder.encode(stringifyEnvelope(envelope)),
    readContent: (content) => parseEnvelope(decoder.decode(content)),
    forgedDetail: 'It was altered, or made with another key of the same id',
    createCipher,
  }
}
