import type { StateCodec } from './state-codec.ts'
import { createMigrating, type MigratingCodec, type MigratingOptions } from './store/migrating.ts'
import { createSingleUse } from './store/single-use.ts'
import type { StateStore } from './store/state-store.ts'
import { createStored, type StoredOptions } from './store/stored.ts'
import { createPlain, type PlainOptions } from './token/plain.ts'
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

/**
 * The value travels readable, and anybody can alter it. The claims are checked as everywhere, but a forger writes them. For development.
 *
 * @throws StateUsageError unless the options say `insecure: true`.
 */
export function plain(options: PlainOptions): StateCodec {
  return createPlain(options, nodePlatform)
}

/**
 * The value stays in a store, and a random handle travels: for values too large for a token.
 *
 * @throws StateUsageError for options that are mistaken.
 */
export function stored(options: StoredOptions): StateCodec {
  return createStored(options, nodePlatform)
}

/**
 * Leads from `stored` to another codec without losing a token, phase by phase, forwards and back; a rolling deployment may have instances of two
 * neighbouring phases. `report()` says when it is time for the next.
 *
 * @throws StateUsageError for options that are mistaken.
 */
export function migrating(options: MigratingOptions): MigratingCodec {
  return createMigrating(options, nodePlatform)
}

/**
 * The same codec, but each of its tokens opens once, over all instances that share the store. A peer that lost the answer cannot try again.
 *
 * @throws StateUsageError for a codec that does not say how long its tokens live.
 */
export function singleUse(codec: StateCodec, store: StateStore): StateCodec {
  return createSingleUse(codec, store, nodePlatform)
}
