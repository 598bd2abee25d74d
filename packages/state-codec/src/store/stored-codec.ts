import { maxLifetimeOf, checkToken } from '../claims/envelope.ts'
import type { ClaimOptions, StateCodec, StateStore } from '../state-codec.ts'
import type { CryptoProvider } from '../token/crypto-provider.ts'
import { createHandleStore } from './handle-store.ts'

/** Options of `storedState`. */
export interface StoredOptions extends ClaimOptions {
  /** The store of the values. All instances must use the same store. */
  readonly store: StateStore
}

/** Creates a codec whose tokens are handles of values in a store. */
export function createStoredCodec(options: StoredOptions, provider: CryptoProvider): StateCodec {
  const handleStore = createHandleStore(options.store, options, provider)
  return {
    lifetimeMs: maxLifetimeOf(handleStore.claimOptions),
    ping: () => handleStore.ping(),
    async seal(value, claims) {
      const handle = handleStore.newHandle()
      await handleStore.write(handle, value, claims)
      return handle
    },
    async open(token, claims) {
      checkToken(token)
      return handleStore.read(token, claims)
    },
  }
}
