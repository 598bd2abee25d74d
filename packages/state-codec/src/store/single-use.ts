import { checkToken } from '../claims/envelope.ts'
import type { StateCodec } from '../state-codec.ts'
import { StateError, StateUsageError } from '../state-error.ts'
import type { Platform } from '../token/platform.ts'
import { guarded } from './reach.ts'
import type { StateStore } from './state-store.ts'

/** A codec whose tokens open once. */
export function createSingleUse(codec: StateCodec, store: StateStore, platform: Platform): StateCodec {
  const { lifetimeMs } = codec
  if (lifetimeMs === undefined || !(lifetimeMs > 0)) {
    throw new StateUsageError(
      'configuration',
      'singleUse() needs a codec with lifetimeMs: uses are remembered for so long',
    )
  }
  const reached = guarded(store)
  return {
    lifetimeMs,
    seal: (value, claims) => codec.seal(value, claims),
    async open(token, claims) {
      checkToken(token)
      // Opened first, so that nobody fills the store with tokens that never were. Every codec's tokens have one text alone, so
      // the digest of the text stands for the token.
      const value = await codec.open(token, claims)
      const key = `used:${await platform.digest(token)}`
      if (await reached.add(key, '1', lifetimeMs)) return value
      throw new StateError('used', 'It was opened before, and is good for one use')
    },
  }
}
