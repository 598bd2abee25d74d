import type { ClientEvent, ClientExtension } from '@x/client'

/** The event of a client about one response of a call. */
export type RoundEvent = Extract<ClientEvent, { type: 'round' }>

/** Creates an extension that passes each `round` event of its client to a function. */
export function roundObserver(onRound: (round: RoundEvent) => void): ClientExtension {
  const observe = (event: ClientEvent): void => {
    if (event.type === 'round') onRound(event)
  }
  return { extends: 'client', name: 'roundObserver', start: () => ({ observe }) }
}
