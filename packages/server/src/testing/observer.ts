import type { ServerEvent, ServerExtension } from '@x/exchange'

/** Passes each event of its server to a function. */
export function observer(observe: (event: ServerEvent) => void, name = 'observer'): ServerExtension {
  return { extends: 'server', name, start: () => ({ observe }) }
}
