import type { ClientTarget, ConnectionView, Exchange, TypeCarrier, TypesOf } from '@x/exchange'
import { cachePartitionOf, withCache } from './caching/cache.ts'
import type { Client } from './client.ts'
import {
  type ClientApis,
  type ClientExtension,
  type ClientOptions,
  resolveClientOptions,
} from './extensions/client-extension.ts'
import { type ClientParts, startExtensions } from './extensions/start-extensions.ts'
import { ClientState, errorContextOf } from './request/client-state.ts'
import {
  createExtensionRequest,
  createSendOnce,
  createSendRawRequest,
  type SendRequest,
  withCompleteResult,
} from './request/request.ts'
import { createMultiRoundCalls } from './rounds/multi-round-calls.ts'
import { createNamedCalls } from './rounds/typed-calls.ts'
import { createSubscriptionCalls } from './subscriptions/keep-fresh.ts'
import { createToolCalls } from './tools/call-tool.ts'
import { createListCalls, createListFetchers, createOfferedLists } from './tools/offered-lists.ts'

/**
 * Makes a client of a connection, a server in this process, or any exchange. Nothing is sent before the first call, and
 * any call can be the first. From a server in this process the client also takes the types of its tools and prompts;
 * for one in another process, write `createClient<typeof server>(…)` with an `import type`. That type argument costs
 * you the types of extension members, because TypeScript infers all type arguments or none. Once the program has closed
 * the connection, subscriptions are not opened again.
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
  const resolvedOptions = resolveClientOptions(options)
  const connection = connectionOf(target)
  // A circle: extensions need the client, and the client sends through their middleware. The exchange is set once both
  // exist.
  let exchange: Exchange = connection.exchange
  const parts = createParts((request, call) => exchange(request, call), connection, resolvedOptions)
  const extended = startExtensions(parts, createClient)
  exchange = extended.exchange
  // TypeScript cannot check that the members come from the extensions in the list.
  return Object.assign(parts.client, extended.members) as Client<TypesOf<Served>> & ClientApis<Extensions>
}

/** In the order in which the response to a call passes through them. */
function createParts(exchange: Exchange, connection: ConnectionView, options: ClientParts['options']): ClientParts {
  const { log } = options
  const { closed, url } = connection
  const state = new ClientState(options, url, (serverInfo) => void (client.serverInfo = serverInfo))
  const { events, identity } = state
  const getErrorContext = (call: Parameters<typeof errorContextOf>[0]) => errorContextOf(call, state)

  const getPendingLogin = (): Error | undefined => findPendingLogin(connection)
  const exchanges = { exchange, transportExchange: connection.exchange, getPendingLogin, closed }
  const sendRaw = createSendRawRequest(exchanges, options, state)

  const cachePartition = cachePartitionOf(options.cache, connection)
  const cacheContext = { clock: options.runtime, events, connection }
  const {
    send: sendOnce,
    cache,
    getPartition,
  } = withCache(createSendOnce(sendRaw, state, log), cachePartition, cacheContext)
  const send = withCompleteResult(sendOnce, state)

  const { toolIndex, getLists } = createOfferedLists({ send, clientState: state, clearCache: cache.clear }, log)
  const toolCalls = createToolCalls({
    sendOnce,
    toolIndex,
    listTools: (readOptions) => getLists().tools.toArray(readOptions),
    errorContextOf: getErrorContext,
    options,
  })

  const roundsContext = { options, events, errorContextOf: getErrorContext, abandonRound: identity.abandonRound }

  // A property that is set: as a getter in this literal, `serverInfo` would use 1.5 KB of memory in each client.
  const client: Omit<ClientParts['client'], 'serverInfo'> & { serverInfo: Client['serverInfo'] } = {
    discover: async (options = {}) => {
      const result = await send({ method: 'server/discover', params: {} }, options)
      state.trySelectVersion(result.supportedVersions)
      return result
    },
    ...createMultiRoundCalls(sendOnce, toolCalls, roundsContext),
    complete: createCompletionCall(send),
    ...createListCalls(getLists),
    ...createSubscriptionCalls(() => ({
      sendOnce,
      clientState: state,
      partition: getPartition(),
      clock: options.runtime,
      log,
      isClosed: () => closed?.aborted === true,
      isCacheEnabled: cachePartition !== false,
      listFetchers: createListFetchers(getLists()),
    })),
    request: createExtensionRequest(sendRaw, state),
    cache,
    serverInfo: undefined,
    // Looked up at each call, because extensions may replace the members.
    tools: createNamedCalls((...call: Parameters<Client['callTool']>) => client.callTool(...call)),
    prompts: createNamedCalls((...call: Parameters<Client['getPrompt']>) => client.getPrompt(...call)),
  }
  return { client, connection, options, events, toolCalls, roundsContext }
}

/** A client's `close` must not close a server in this process, so the connection to one has no `close`. */
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

/** While a login is open, calls get no answer; its error says so. */
function findPendingLogin({ state }: ConnectionView): Error | undefined {
  const reason = state?.status === 'login_needed' ? state.reason : undefined
  return reason !== undefined && 'code' in reason && reason.code === 'login_pending' ? reason : undefined
}

function createCompletionCall(send: SendRequest): Client['complete'] {
  return (ref, argument, { arguments: resolvedArguments, ...options } = {}) => {
    const params = {
      ref,
      argument,
      ...(resolvedArguments !== undefined && { context: { arguments: resolvedArguments } }),
    }
    return send({ method: 'completion/complete', params }, options)
  }
}
