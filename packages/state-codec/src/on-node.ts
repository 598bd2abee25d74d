import type { StateCodec } from './state-codec.ts'
import { nodePlatform } from './token/platform-node.ts'
import { createTokenCodec, type KeyedOptions } from './token/token-codec.ts'

/**
 * The codec of choice: the value travels encrypted and cannot be altered (JWE compact, `dir` and `A256GCM`).
 *
 * @throws StateUsageError for keys or options that are mistaken.
 */
export function sealed(options: KeyedOptions): StateCodec {
  return createTokenCodec('sealed', options, nodePlatform)
}

/**
 * The value travels readable and cannot be altered (JWS compact, `HS256`).
 *
 * @throws StateUsageError for keys or options that are mistaken.
 */
export function signed(options: KeyedOptions): StateCodec {
  return createTokenCodec('signed', options, nodePlatform)
}
