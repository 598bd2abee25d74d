import type { ConnectionView, Exchange, Middleware } from '@x/exchange'
import type { Client } from '../client.ts'
import type { ClientEventSource } from '../request/client-event.ts'
import { createClientCallSteps } from '../rounds/client-call-steps.ts'
import type { RoundsContext } from '../rounds/send-round.ts'
import { createSendCall, createWrappedCalls, type SendCall } from '../rounds/wrapped-calls.ts'
import type { ToolCallFactory } from '../tools/call-tool.ts'
import {
  checkClientExtensions,
  type ClientExtension,
  type ClientExtensionHost,
  type ClientOptions,
  type ResolvedClientOptions,
} from './client-extension.ts'

/** A client before its extensions, and what they may use of its calls. */
export interface ClientParts {
  readonly client: Omit<Client, 'close' | typeof Symbol.asyncDispose>
  readonly connection: ConnectionView
  readonly options: ResolvedClientOptions
  readonly events: ClientEventSource
  readonly toolCalls: ToolCallFactory
  readonly roundsContext: RoundsContext
}

/** `close` is added last. A member `then` would make a promise of the client. */
const laterMemberNames = ['close', 'then']

/**
 * Starts the extensions of a client; `createClient` is what their `fork` calls. Throws a `TypeError` for extensions
 * that cannot be composed.
 */
export function startExtensions(
  parts: ClientParts,
  createClient: (connection: ConnectionView, options: ClientOptions) => Client,
): { readonly exchange: Exchange; readonly members: object } {
  const { client, connection, options, events } = parts
  const { extensions = [], use } = options
  checkClientExtensions(extensions, [...Object.keys(client), ...laterMemberNames])
  const sendCall = createSendCall(client)
  const fork = (extension: ClientExtension): ClientExtensionHost['fork'] => {
    const otherExtensions = extensions.filter((candidate) => candidate !== extension)
    return (middleware, changes = {}) =>
      createClient(forkConnection(connection, middleware), { ...options, ...changes, extensions: otherExtensions })
  }
  const instances = extensions.map((extension) => ({
    name: extension.name,
    ...extension.start?.(createExtensionHost(parts, sendCall, fork(extension))),
  }))
  const middleware = [...use, ...instances.flatMap((instance) => instance.middleware ?? [])]
  const wrappedSendCall = instances.reduceRight((next, { wrapCall }) => wrapCall?.(next) ?? next, sendCall)
  events.observe(instances.flatMap((instance) => (instance.observe ? [(event) => instance.observe?.(event)] : [])))
  const close = async (): Promise<void> => {
    await Promise.all(instances.map((instance) => instance.close?.()))
    await connection.close?.()
  }
  return {
    exchange: middleware.reduceRight((next, applyMiddleware) => applyMiddleware(next), connection.exchange),
    members: {
      ...(wrappedSendCall !== sendCall && createWrappedCalls(wrappedSendCall)),
      ...Object.fromEntries(instances.flatMap(({ name, api }) => (api === undefined ? [] : [[name, api]]))),
      close,
      [Symbol.asyncDispose]: close,
    },
  }
}

function createExtensionHost(
  parts: ClientParts,
  sendCall: SendCall,
  fork: ClientExtensionHost['fork'],
): ClientExtensionHost {
  const { client, connection, options, toolCalls, roundsContext } = parts
  return {
    ...createClientCallSteps(toolCalls, roundsContext, connection.url),
    options,
    request: client.request,
    sendCall,
    fork,
    get server() {
      return client.serverInfo
    },
    get peer() {
      return connection.peer
    },
  }
}

/** Wraps the exchange; closing the fork leaves the original connection open. */
function forkConnection(connection: ConnectionView, middleware: Middleware): ConnectionView {
  const { exchange, url, closed, canMixPrincipals } = connection
  return {
    exchange: middleware(exchange),
    url,
    canMixPrincipals,
    get state() {
      return connection.state
    },
    ...(closed && { closed }),
    get peer() {
      return connection.peer
    },
  }
}
