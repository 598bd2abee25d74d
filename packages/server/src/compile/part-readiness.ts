import type { StateCodec } from '@x/state-codec'

/** The readiness of the codec of `requestState`: a server whose codec has a store can continue no call without it. */
export interface StateReadiness {
  /** Resolves with whether the store of the codec answers. Never rejects. */
  ready(): Promise<boolean>
  /** The name of the codec while its store did not answer at the last check. */
  unavailableNames(): readonly string[]
}

const stateName = 'state'

/** Checks the store of a codec. A codec without a store is always ready. Only a change is reported. */
export function createStateReadiness(codec: StateCodec | undefined, report: (error: unknown) => void): StateReadiness {
  let isAvailable = true
  return {
    async ready() {
      try {
        await codec?.ping?.()
        isAvailable = true
      } catch (cause) {
        if (isAvailable) report(new Error('The store of `state` cannot be reached: the server is not ready', { cause }))
        isAvailable = false
      }
      return isAvailable
    },
    unavailableNames: () => (isAvailable ? [] : [stateName]),
  }
}
