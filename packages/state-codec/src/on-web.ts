import type { StateCodec, StateStore } from './state-codec.ts'
import { createMigratingCodec, type MigratingCodec, type MigratingOptions } from './store/migrating-codec.ts'
import { createSingleUseCodec } from './store/single-use-codec.ts'
import { createStoredCodec, type StoredOptions } from './store/stored-codec.ts'
import { createPlainCodec, type PlainOptions } from './token/plain-codec.ts'
import { createWebEncryption, createWebSigning, webCrypto } from './token/crypto-provider-web.ts'
import { createSealedTokenType, createSignedTokenType } from './token/token-types.ts'
import { createTokenCodec, type KeyedOptions } from './token/token-codec.ts'

/**
 * Creates the recommended codec: the value is encrypted and authenticated (JWE compact, `dir` and `A256GCM`).
 *
 * @throws StateUsageError for invalid keys or options.
 */
export function sealedState(options: KeyedOptions): StateCodec {
  return createTokenCodec(createSealedTokenType(createWebEncryption), options, webCrypto)
}

/**
 * Creates a codec whose tokens are readable and authenticated (JWS compact, `HS256`).
 *
 * @throws StateUsageError for invalid keys or options.
 */
export function signedState(options: KeyedOptions): StateCodec {
  return createTokenCodec(createSignedTokenType(createWebSigning), options, webCrypto)
}

/**
 * Creates a codec without protection, for development: every program can read and alter its tokens. Claims are checked,
 * but a forger writes them.
 *
 * @throws StateUsageError unless the options contain `insecure: true`.
 */
export function plainState(options: PlainOptions): StateCodec {
  return createPlainCodec(options, webCrypto)
}

/**
 * Creates a codec that keeps the value in a store and sends a random handle, for values too large for a token.
 *
 * @throws StateUsageError for invalid options.
 */
export function storedState(options: StoredOptions): StateCodec {
  return createStoredCodec(options, webCrypto)
}

/**
 * Creates a codec that migrates from `storedState` to another codec without losing a token, phase by phase. Phases
 * advance and roll back. During a rolling deployment, instances may be in two adjacent phases. `report()` says when to
 * advance.
 *
 * @throws StateUsageError for invalid options.
 */
export function migratingState(options: MigratingOptions): MigratingCodec {
  return createMigratingCodec(options, webCrypto)
}

/**
 * Wraps a codec so that each token opens once over all instances that share the store. A peer that lost the response
 * cannot retry.
 *
 * @throws StateUsageError for a codec without `lifetimeMs`.
 */
export function singleUseState(codec: StateCodec, store: StateStore): StateCodec {
  return createSingleUseCodec(codec, store, webCrypto)
}
