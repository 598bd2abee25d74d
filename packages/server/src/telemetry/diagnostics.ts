import { channel } from 'node:diagnostics_channel'
import type { ServerExtension } from '@x/exchange'

/**
 * Publishes a server's events to `node:diagnostics_channel`. A channel is named `x:` and the type of the event, such as
 * `x:run`, and its messages are `ServerEvent` objects of `@x/exchange`. An event's `call` has the principal with its
 * claims, so log members and not the whole event.
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
