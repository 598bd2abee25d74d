import { lifetimeOf } from '../claims/claim-rules.ts'
import { checkToken } from '../claims/envelope.ts'
import type { ClaimOptions, StateCodec } from '../state-codec.ts'
import type { Platform } from '../token/platform.ts'
import { createRecords } from './records.ts'
import type { StateStore } from './state-store.ts'

/** The options of `stored`. */
export interface StoredOptions extends ClaimOptions {
  /** Where the values stay; every instance must reach the same. */
  readonly store: StateStore
}

/** A codec whose tokens are handles of values in a store. */
export function createStored(options: StoredOptions, platform: Platform): StateCodec {
  const records = createRecords(options.store, options, platform)
  return {
    lifetimeMs: lifetimeOf(records.rules),
    async seal(value, claims) {
      const handle = records.newHandle()
      await records.write(handle, value, claims)
      return handle
    },
    async open(token, claims) {
      checkToken(token)
      return records.read(token, claims)
    },
  }
}
