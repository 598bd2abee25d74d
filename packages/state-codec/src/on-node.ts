import type { StateCodec, StateStore } from './state-codec.ts'
import { createMigratingCodec, type MigratingCodec, type MigratingOptions } from './store/migrating-codec.ts'
import { createSingleUseCodec } from './store/single-use-codec.ts'
import { createStoredCodec, type StoredOptions } from './store/stored-codec.ts'
import { createPlainCodec, type PlainOptions } from './token/plain-codec.ts'
import { createNodeEncryption, createNodeSigning, nodeCrypto } from './token/crypto-provider-node.ts'
import { createSealedTokenType, createSignedTokenType } from './token/token-types.ts'
import { createTokenCodec, type KeyedOptions } from './token/token-codec.ts'

/**
 * Creates the recommended codec, whose tokens are encrypted and authenticated (JWE compact, `dir` and `A256GCM`). A
 * token has at most 32,768 bytes: `seal` throws `StateUsageError` `too_large` for a longer one.
 *
 * @throws StateUsageError for invalid keys or options.
 */
export function sealedState(options: KeyedOptions): StateCodec {
  return createTokenCodec(createSealedTokenType(createNodeEncryption), options, nodeCrypto)
}

/**
 * Creates a codec whose tokens are readable and authenticated (JWS compact, `HS256`).
 *
 * @throws StateUsageError for invalid keys or options.
 */
export function signedState(options: KeyedOptions): StateCodec {
  return createTokenCodec(createSignedTokenType(createNodeSigning), options, nodeCrypto)
}

/**
 * Creates a codec without protection, for development. Every program can read and alter its tokens. The codec checks
 * the context of a token, but in a forged token the forger chose it.
 *
 * @throws StateUsageError unless the options contain `insecure: true`.
 */
export function plainState(options: PlainOptions): StateCodec {
  return createPlainCodec(options, nodeCrypto)
}

/**
 * Creates a codec for values that are too large for a token, up to 1,048,576 characters of JSON with their context. It
 * keeps the value in a store, and its tokens are random handles.
 *
 * @throws StateUsageError for invalid options.
 */
export function storedState(options: StoredOptions): StateCodec {
  return createStoredCodec(options, nodeCrypto)
}

/**
 * Creates a codec that migrates from `storedState` to another codec in phases, without losing a token. A program can
 * advance to the next phase or return to the previous one. During a rolling deployment, instances may be in two
 * adjacent phases. `report()` says when to advance.
 *
 * @throws StateUsageError for invalid options.
 */
export function migratingState(options: MigratingOptions): MigratingCodec {
  return createMigratingCodec(options, nodeCrypto)
}

/**
 * Wraps a codec so that each token opens only once, across all instances that share the store. A peer that did not
 * receive the response cannot send the same token again.
 *
 * @throws StateUsageError for a codec without `lifetimeMs`.
 */
export function singleUseState(codec: StateCodec, store: StateStore): StateCodec {
  return createSingleUseCodec(codec, store, nodeCrypto)
}
