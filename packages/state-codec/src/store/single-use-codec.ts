import { checkArgument } from '@x/core'
import { clockSkewMs, checkToken } from '../envelope/envelope.ts'
import type { StateCodec, StateStore, TokenTimes } from '../state-codec.ts'
import { StateError, StateUsageError } from '../state-error.ts'
import type { CryptoProvider } from '../token/crypto-provider.ts'
import { withStateErrors } from './call-store.ts'

/**
 * Remembers a used token in the store until it has expired on every instance, whose clocks may differ by
 * {@link clockSkewMs}.
 */
export function createSingleUseCodec(codec: StateCodec, store: StateStore, provider: CryptoProvider): StateCodec {
  checkArgument(codec, { where: 'singleUseState', takes: 'a codec and a store' })
  const { lifetimeMs } = codec
  if (lifetimeMs === undefined || !(lifetimeMs > 0)) {
    throw new StateUsageError(
      'configuration',
      'singleUseState() needs a codec with lifetimeMs: used tokens are remembered for this long',
    )
  }
  const guardedStore = withStateErrors(store)
  return {
    lifetimeMs,
    opensOnce: true,
    ping: async () => {
      await Promise.all([guardedStore.ping(), codec.ping?.()])
    },
    seal: (value, context) => codec.seal(value, context),
    async open(token, context) {
      if (context.reusable === true) return codec.open(token, context)
      checkToken(token)
      // Opened first, so that forged tokens do not fill the store. In every codec, only one text opens as a given
      // token, so the digest of the text identifies the token.
      let remainingMs: number | undefined
      const onOpen = (times: TokenTimes): void => {
        remainingMs = Math.max(remainingMs ?? 0, times.ttlMs)
        context.onOpen?.(times)
      }
      const value = await codec.open(token, { ...context, onOpen })
      const key = `used:${await provider.digest(token)}`
      // An instance whose clock is behind the others opens the token a little longer.
      const usedKeyTtlMs = remainingMs === undefined ? lifetimeMs : Math.min(remainingMs + clockSkewMs, lifetimeMs)
      if (await guardedStore.forOwner(context.owner).add(key, '1', usedKeyTtlMs)) return value
      throw new StateError('used', 'It was opened before; a token opens once')
    },
  }
}
