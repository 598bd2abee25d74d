import { channel } from 'node:diagnostics_channel'
import type { ServerExtension } from '@x/exchange'

/**
 * Creates the extension that publishes the events of a server to `node:diagnostics_channel`. The name of a channel is
 * `x:` and the type of the event, such as `x:run`, and its messages are `ServerEvent` objects of `@x/exchange`.
 * The `call` of an event has the principal with its claims, so a subscriber logs members and not the whole event.
 *
 * @example
 * const server = createServer({ ...definition, extensions: [diagnostics()] })
 * subscribe('x:state_rejected', (event) => …)
 */
export function diagnostics(): ServerExtension<'diagnostics'> {
  return {
    extends: 'server',
    name: 'diagnostics',
    start: () => ({ observe: (event) => channel(`x:${event.type}`).publish(event) }),
  }
}
