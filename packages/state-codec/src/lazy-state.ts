import type { StateCodec } from './state-codec.ts'

/**
 * Makes the codec when it is first used. A random key needs that: workerd has no random values during its start.
 *
 * @example
 * const state = lazyState(() => sealedState({ keys: [randomKey()] }))
 */
export function lazyState(create: () => StateCodec): StateCodec {
  let codec: StateCodec | undefined
  const getCodec = (): StateCodec => (codec ??= create())
  return {
    seal: (value, context) => getCodec().seal(value, context),
    open: (token, context) => getCodec().open(token, context),
  }
}
