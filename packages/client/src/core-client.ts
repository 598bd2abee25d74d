import type { ConnectionView, Exchange } from '@x/exchange'
import { cachePartitionOf, withCache } from './caching/cache.ts'
import type { Client } from './client.ts'
import { type ClientCallSteps, createClientCallSteps } from './client-call-steps.ts'
import { createListCalls, createOfferedLists, createListFetchers } from './offered-lists.ts'
import type { ClientConstants, CoreClientSettings } from './request/options.ts'
import { type ClientState, createClientState, errorContextOf } from './request/client-state.ts'
import {
  withCompleteResult,
  createExtensionRequest,
  createSendOnce,
  createSendRawRequest,
  type SendRequest,
  trySelectVersion,
} from './request/request.ts'
import { createMultiRoundCalls } from './rounds/multi-round-calls.ts'
import { createSubscriptionCalls } from './subscriptions/keep-fresh.ts'
import { createToolCalls } from './tools/call-tool.ts'
import { createToolIndex } from './tools/tool-index.ts'

/** The inputs of {@link createCoreClient}. */
export interface CoreClientContext {
  readonly exchange: Exchange
  readonly connection: ConnectionView
  readonly options: CoreClientSettings & { readonly log: NonNullable<CoreClientSettings['log']> }
  readonly constants: ClientConstants
  readonly events: ClientState['events']
}

/** A client without its extensions, and the parts of its calls that extensions use. */
export interface CoreClient {
  readonly client: Omit<Client, 'tools' | 'prompts' | 'close' | typeof Symbol.asyncDispose>
  readonly getCallSteps: () => ClientCallSteps
}

/** Creates the calls of a client, without its extensions. */
export function createCoreClient({ exchange, connection, options, constants, events }: CoreClientContext): CoreClient {
  const { versions, maxPages, maxListSize } = constants
  const onServerInfo = (serverInfo: Client['serverInfo']): void => void (client.serverInfo = serverInfo)
  const state = createClientState(options, versions, { url: connection.url, onServerInfo, events })
  const { closed } = connection
  const getPendingLogin = (): Error | undefined => findPendingLogin(connection)
  const exchanges = { exchange, transportExchange: connection.exchange, getPendingLogin, closed }
  const sendRawRequest = createSendRawRequest(exchanges, options, state)
  const cachePartition = cachePartitionOf(options.cache, connection)
  const sendChecked = createSendOnce(sendRawRequest, state)
  const {
    send: sendOnce,
    cache,
    getPartition,
  } = withCache(sendChecked, cachePartition, { clock: options.runtime, events })
  const send = withCompleteResult(sendOnce, state)
  const { log } = options
  const toolIndex = createToolIndex(log)
  const listContext = { send, clientState: state, maxPages, maxListSize, clearCache: cache.clear }
  const getLists = createOfferedLists(listContext, toolIndex)
  const getErrorContext = (call: Parameters<typeof errorContextOf>[0]) => errorContextOf(call, state)
  const toolCalls = createToolCalls({
    sendOnce,
    toolIndex,
    listTools: (options) => getLists().tools.toArray(options),
    errorContextOf: getErrorContext,
    options,
  })

  const multiRoundCalls = createMultiRoundCalls(sendOnce, toolCalls, {
    options,
    events,
    errorContextOf: getErrorContext,
    abandonRound: state.identity.abandonRound,
  })
  // `serverInfo` is a property that is set, because a getter in this literal would use 1.5 KB of memory in each client.
  const client: Omit<CoreClient['client'], 'serverInfo'> & { serverInfo: Client['serverInfo'] } = {
    discover: async (options = {}) => {
      const result = await send({ method: 'server/discover', params: {} }, options)
      trySelectVersion(result.supportedVersions, state)
      return result
    },
    ...multiRoundCalls,
    complete: createCompletionCall(send),
    ...createListCalls(getLists),
    ...createSubscriptionCalls(() => ({
      sendOnce,
      clientState: state,
      partition: getPartition(),
      clock: options.runtime,
      log,
      isClosed: () => connection.closed?.aborted === true,
      isCacheEnabled: cachePartition !== false,
      listFetchers: createListFetchers(getLists()),
    })),
    request: createExtensionRequest(sendRawRequest, state),
    cache,
    serverInfo: undefined,
  }
  const getCallSteps = (): ClientCallSteps => createClientCallSteps(toolCalls, options, state)
  return { client, getCallSteps }
}

/** Returns the error about a login that is open, which is why a call gets no answer. */
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
