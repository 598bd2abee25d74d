import type { StateCodec, StateStore } from './state-codec.ts'
import { createMigratingCodec, type MigratingCodec, type MigratingOptions } from './store/migrating-codec.ts'
import { createSingleUseCodec } from './store/single-use-codec.ts'
import { createStoredCodec, type StoredOptions } from './store/stored-codec.ts'
import { createPlainCodec, type PlainOptions } from './token/plain-codec.ts'
import { createNodeEncryption, createNodeSigning, nodeCrypto } from './token/crypto-provider-node.ts'
import { createSealedTokenType, createSignedTokenType } from './token/token-types.ts'
import { createTokenCodec, type KeyedOptions } from './token/token-codec.ts'

/**
 * The recommended codec: its tokens are encrypted and authenticated (JWE compact, `dir` and `A256GCM`). A token has at
 * most 32,768 bytes: `seal` throws `StateUsageError` `too_large` for a longer one.
 *
 * @throws StateUsageError for invalid keys or options.
 */
export function sealedState(options: KeyedOptions): StateCodec {
  return createTokenCodec(createSealedTokenType(createNodeEncryption), options, nodeCrypto)
}

/**
 * A codec whose tokens are readable and authenticated (JWS compact, `HS256`).
 *
 * @throws StateUsageError for invalid keys or options.
 */
export function signedState(options: KeyedOptions): StateCodec {
  return createTokenCodec(createSignedTokenType(createNodeSigning), options, nodeCrypto)
}

/**
 * A codec without protection, for development: every program can read and alter its tokens. The context of a token is
 * checked, but in a forged token the forger chose it.
 *
 * @throws StateUsageError unless the options contain `insecure: true`.
 */
export function plainState(options: PlainOptions): StateCodec {
  return createPlainCodec(options, nodeCrypto)
}

/**
 * A codec for values that are too large for a token, up to 1,048,576 characters of JSON with their context. The value
 * stays in a store, and its token is a random handle.
 *
 * @throws StateUsageError for invalid options.
 */
export function storedState(options: StoredOptions): StateCodec {
  return createStoredCodec(options, nodeCrypto)
}

/**
 * Moves from `storedState` to another codec in phases, without losing a token. You can go to the next phase or back to
 * the previous one; during a rolling deployment, instances may be in two adjacent phases. `report()` says when to
 * advance.
 *
 * @throws StateUsageError for invalid options.
 */
export function migratingState(options: MigratingOptions): MigratingCodec {
  return createMigratingCodec(options, nodeCrypto)
}

/**
 * Lets each token open only once, across all instances that share the store. A peer that did not receive the response
 * cannot send the same token again.
 *
 * @throws StateUsageError for a codec without `lifetimeMs`.
 */
export function singleUseState(codec: StateCodec, store: StateStore): StateCodec {
  return createSingleUseCodec(codec, store, nodeCrypto)
}
