import type { OptionTable } from '@x/core'
import { checkToken, codecOptionTable, maxLifetimeOf, resolveCodecOptions } from '../envelope/envelope.ts'
import type { CodecOptions, StateCodec, StateStore } from '../state-codec.ts'
import type { CryptoProvider } from '../token/crypto-provider.ts'
import { HandleStore } from './handle-store.ts'

/** Options of `storedState`. */
export interface StoredOptions extends CodecOptions {
  /** Keeps the values. All instances must use the same store. */
  readonly store: StateStore
}

const storedOptionTable = { ...codecOptionTable, store: undefined } satisfies OptionTable<StoredOptions>

export function createStoredCodec(options: StoredOptions, provider: CryptoProvider): StateCodec {
  // Programs without types pass the store alone.
  if (typeof options?.store !== 'object' || options.store === null)
    throw new TypeError('storedState takes an object with a store, as in storedState({ store: redisStore(url) })')
  const codecOptions = resolveCodecOptions(options, storedOptionTable, 'storedState')
  const handleStore = new HandleStore(options.store, codecOptions, provider)
  return {
    lifetimeMs: maxLifetimeOf(codecOptions),
    ping: () => handleStore.ping(),
    async seal(value, context) {
      const handle = handleStore.newHandle()
      await handleStore.write(handle, value, context)
      return handle
    },
    async open(token, context) {
      checkToken(token)
      return handleStore.read(token, context)
    },
  }
}
