/**
 * Seals a JSON value into a URL-safe string, and opens it again.
 *
 * @module @x/state-codec
 */

export {
  migratingState,
  plainState,
  sealedState,
  signedState,
  singleUseState,
  storedState,
} from './on-node.ts'
export { lazyState } from './lazy-state.ts'
export { type InspectOptions, inspectToken, type TokenReport } from './token/inspect-token.ts'
export { type KeyInput, type KeyLine, parseKeyLines, randomKey } from './token/keys.ts'
export type { PlainOptions } from './token/plain-codec.ts'
export type { KeyedOptions } from './token/token-codec.ts'
export { memoryStore, type MemoryStoreOptions } from './store/memory-store.ts'
export type { MigratingCodec, MigratingOptions } from './store/migrating-codec.ts'
export type { MigrationEvent, MigrationPhase, MigrationReport } from './store/migration-counter.ts'
export type { StateStore } from './state-codec.ts'
export type { StoredOptions } from './store/stored-codec.ts'
export type { JsonArray, JsonObject, JsonValue } from '@x/core'
export type { CodecOptions, TokenContext, OpenOptions, SealOptions, StateCodec, TokenTimes } from './state-codec.ts'
export {
  isStateError,
  isStateUsageError,
  StateError,
  type StateErrorCode,
  type StateErrorOptions,
  type StateQuota,
  type StateUsageErrorCode,
  StateUsageError,
} from './state-error.ts'
