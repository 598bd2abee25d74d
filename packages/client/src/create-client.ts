import { createLog, resolveOptions } from '@x/core'
import type { ClientTarget, ConnectionView, Exchange, Middleware, TypeCarrier, TypesOf } from '@x/exchange'
import type { Client } from './client.ts'
import {
  checkClientExtensions,
  type ClientApis,
  type ClientExtension,
  type ClientExtensionHost,
  type ClientExtensionInstance,
  clientOptionTable,
  type ClientOptions,
  withExtensionCapabilities,
} from './client-extension.ts'
import { type CoreClient, createCoreClient } from './core-client.ts'
import { createClientEventSource } from './request/client-event.ts'
import { type ClientConstants, clientConstants } from './request/options.ts'
import { createSendCall, createWrappedCalls } from './rounds/wrapped-calls.ts'
import { createNamedCalls } from './typed-calls.ts'

/**
 * Makes a client of a connection, a server in this process, or any exchange. The client sends nothing before its first
 * call, and any call can be the first. A server in this process gives the client the types of its tools and prompts.
 * For a server in another process write `createClient<typeof server>(…)`, with an `import type`. With that type
 * argument, the members of extensions have no types, because TypeScript cannot infer only some of the type arguments.
 * Subscriptions are not opened again after the program has closed the connection.
 *
 * @example
 * await using client = createClient(connectHttp(url), { name: 'host', version: '1.0.0', extensions: [tasksClient()] })
 * const { content } = await client.callTool('greet', { name: 'Ada' })
 *
 * @throws TypeError for extensions that cannot be composed.
 */
export function createClient<
  Served = unknown,
  const Extensions extends readonly ClientExtension[] = readonly ClientExtension[],
>(
  target: ClientTarget | (ClientTarget & TypeCarrier<Served>),
  options: ClientOptions<Extensions>,
): Client<TypesOf<Served>> & ClientApis<Extensions> {
  return createClientWith(target, options, clientConstants)
}

/** Makes a client with other constants than {@link clientConstants}, for the tests of this package. */
export function createClientWith<
  Served = unknown,
  const Extensions extends readonly ClientExtension[] = readonly ClientExtension[],
>(
  target: ClientTarget | (ClientTarget & TypeCarrier<Served>),
  options: ClientOptions<Extensions>,
  constants: ClientConstants,
): Client<TypesOf<Served>> & ClientApis<Extensions> {
  const resolved = resolveOptions<ClientOptions, typeof clientOptionTable>(options, clientOptionTable, 'createClient')
  const { extensions = [] } = options
  const connection = connectionOf(target)
  const capabilities = withExtensionCapabilities(resolved.capabilities, extensions)
  // `Object.assign` is used instead of a spread. For each object with a property after a spread, V8 creates a hidden
  // class that lives as long as the client.
  const log = createLog(resolved.log, '@x/client')
  const clientOptions = Object.assign(resolved, { capabilities, log })
  // Extensions need the client, and the client sends through their middleware. So the exchange is set after both exist.
  let exchange: Exchange = connection.exchange
  const outermostExchange: Exchange = (request, call) => exchange(request, call)
  const events = createClientEventSource(log)
  const core = createCoreClient({ exchange: outermostExchange, connection, options: clientOptions, constants, events })
  const { client } = core
  const sendCall = createSendCall(client)
  // The members are looked up at each call, because extensions may replace them.
  const namedCalls = {
    tools: createNamedCalls((...call: Parameters<Client['callTool']>) => client.callTool(...call)),
    prompts: createNamedCalls((...call: Parameters<Client['getPrompt']>) => client.getPrompt(...call)),
  }
  checkClientExtensions(extensions, Object.keys({ ...client, ...namedCalls }))
  const fork = (extension: ClientExtension): ClientExtensionHost['fork'] => {
    const otherExtensions = extensions.filter((candidate) => candidate !== extension)
    return (middleware, changes = {}) =>
      createClientWith(
        forkConnection(connection, middleware),
        { ...clientOptions, ...changes, extensions: otherExtensions },
        constants,
      )
  }
  const instances = startExtensions(extensions, { core, connection, options: clientOptions, sendCall, fork })
  const middleware = [...resolved.use, ...instances.flatMap((instance) => instance.middleware ?? [])]
  exchange = middleware.reduceRight((next, applyMiddleware) => applyMiddleware(next), connection.exchange)
  const wrappedSendCall = instances.reduceRight((next, { wrapCall }) => wrapCall?.(next) ?? next, sendCall)
  events.observe(instances.flatMap((instance) => (instance.observe ? [(event) => instance.observe?.(event)] : [])))
  const close = async (): Promise<void> => {
    await Promise.all(instances.map((instance) => instance.close?.()))
    await connection.close?.()
  }
  const wrappedMembers = {
    ...namedCalls,
    ...(wrappedSendCall !== sendCall && createWrappedCalls(wrappedSendCall)),
    ...Object.fromEntries(instances.flatMap(({ name, api }) => (api === undefined ? [] : [[name, api]]))),
    close,
    [Symbol.asyncDispose]: close,
  }
  // The cast is needed because TypeScript cannot check that the members come from the extensions in the list.
  return Object.assign(client, wrappedMembers) as Client<TypesOf<Served>> & ClientApis<Extensions>
}

interface ExtensionStart {
  readonly core: CoreClient
  readonly connection: ConnectionView
  readonly options: ClientExtensionHost['options']
  readonly sendCall: ClientExtensionHost['sendCall']
  readonly fork: (extension: ClientExtension) => ClientExtensionHost['fork']
}

function startExtensions(
  extensions: readonly ClientExtension[],
  { core, connection, options, sendCall, fork }: ExtensionStart,
): readonly (ClientExtensionInstance & { readonly name: string })[] {
  const { client, getCallSteps } = core
  return extensions.map((extension) => {
    const host: ClientExtensionHost = {
      ...getCallSteps(),
      options,
      request: client.request,
      sendCall,
      fork: fork(extension),
      get server() {
        return client.serverInfo
      },
      get peer() {
        return connection.peer
      },
    }
    return { name: extension.name, ...extension.start?.(host) }
  })
}

/**
 * Returns the connection of a target. Closing a client must not close a server in this process. So the connection to
 * such a server has no `close`.
 */
function connectionOf(target: ClientTarget): ConnectionView {
  if (typeof target === 'function') return { exchange: target }
  // Programs without types pass the URL of the server.
  if (typeof target !== 'object' || target === null || !('exchange' in target)) {
    throw new TypeError(
      'createClient takes a connection or a server, as in createClient(connectHttp(url), { name, … })',
    )
  }
  return 'attachHost' in target ? { exchange: target.exchange } : target
}

/** Returns a connection whose exchange is wrapped, and which does not close the original connection. */
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
