import type { ClientEvent, ClientExtension } from '@x/client'

/** The client event for one response of a call. */
export type RoundEvent = Extract<ClientEvent, { readonly type: 'round' }>

/** The API of the extension, which the client has as `rounds`. */
export interface RoundWatch {
  /** Passes each response of the calls with this signal to the listener. */
  watch(signal: AbortSignal, onRound: (round: RoundEvent) => void): void
}

/** Creates the extension that passes the responses of a call to the listener of its signal. */
export function roundWatch(): ClientExtension<'rounds', RoundWatch> {
  return {
    extends: 'client',
    name: 'rounds',
    start: () => {
      const listeners = new WeakMap<AbortSignal, (round: RoundEvent) => void>()
      return {
        api: { watch: (signal, onRound) => void listeners.set(signal, onRound) },
        observe: (event) => {
          if (event.type === 'round' && event.options.signal) listeners.get(event.options.signal)?.(event)
        },
      }
    },
  }
}
