import type { ClientExtension } from '../extensions/client-extension.ts'
import type { ClientEvent } from '../request/client-event.ts'

export function observer(observe: (event: ClientEvent) => void): ClientExtension {
  return { extends: 'client', name: 'observer', start: () => ({ observe }) }
}

export function roundObserver(onRound: (round: Extract<ClientEvent, { type: 'round' }>) => void): ClientExtension {
  return observer((event) => {
    if (event.type === 'round') onRound(event)
  })
}
