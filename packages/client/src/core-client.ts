import type { ConnectionView, Exchange } from '@x/schema'
import { cacheOptionsOf, withCache } from './caching/cache.ts'
import type { Client } from './client.ts'
import { type ClientParts, createParts } from './client-parts.ts'
import { askForLists, listsOf } from './offered-lists.ts'
import { type CoreClientOptions, warningListener } from './request/options.ts'
import {
  alwaysComplete,
  createExtensionRequest,
  createSendOnce,
  createSendRaw,
  createClientState,
  errorContextOf,
} from './request/request.ts'
import { createAskingCalls } from './rounds/asking-calls.ts'
import { createSubscriptionCalls } from './subscriptions/keep-fresh.ts'
import { createToolCalls, outcomesOf } from './tools/call-tool.ts'
import { createOutputChecks } from './tools/check-output.ts'
import { createToolIndex } from './tools/tool-index.ts'

/** The parts of a client behind its extensions. */
export interface CoreParts {
  readonly exchange: Exchange
  readonly connection: ConnectionView
  readonly options: CoreClientOptions
}

/** A client without its extensions, and the steps that extensions use of it. */
export interface CoreClient {
  readonly client: Omit<Client, 'tools' | 'prompts' | 'close' | typeof Symbol.asyncDispose>
  readonly parts: ClientParts
  readonly callTool: ReturnType<typeof outcomesOf>
}

/** Makes the calls of a client, without its extensions. */
export function createCore({ exchange, connection, options }: CoreParts): CoreClient {
  const seen = createClientState(options, connection.url)
  const respond = createSendRaw({ exchange, pipe: connection.exchange }, options, seen)
  const cacheOptions = cacheOptionsOf(options.cache, connection)
  const caching = withCache(createSendOnce(respond, seen), cacheOptions, options.clock)
  const { send: once, cache } = caching
  const send = alwaysComplete(once, seen)
  const onWarning = warningListener(options)
  const index = createToolIndex(onWarning)
  const { maxPages = 1000, maxListSize = 16_777_216 } = options
  const lists = listsOf({ send, seen, maxPages, maxListSize, forget: cache.clear }, index)
  const { tools, prompts, resources, templates } = lists
  const outputCheck = createOutputChecks({ validateOutput: options.validateOutput, onWarning })
  const toolCalls = createToolCalls({
    once,
    tools: index,
    list: tools.all,
    checkOf: options.validateOutput && (({ tool }, errorContext) => outputCheck(tool, errorContext)),
    errorContextOf: (request) => errorContextOf(request, seen),
  })

  const calls = createAskingCalls(once, toolCalls, { options, errorContextOf: (call) => errorContextOf(call, seen) })
  const client: CoreClient['client'] = {
    discover: async (options = {}) => {
      const result = await send({ method: 'server/discover', params: {} }, options)
      seen.versions.prefer(result.supportedVersions)
      return result
    },
    ...calls,
    complete: (ref, argument, { arguments: others, ...options } = {}) => {
      const params = others === undefined ? { ref, argument } : { ref, argument, context: { arguments: others } }
      return send({ method: 'completion/complete', params }, options)
    },
    eachTool: tools.each,
    listTools: tools.all,
    eachPrompt: prompts.each,
    listPrompts: prompts.all,
    eachResource: resources.each,
    listResources: resources.all,
    eachResourceTemplate: templates.each,
    listResourceTemplates: templates.all,
    ...createSubscriptionCalls({
      once,
      seen,
      partition: caching.partition,
      clock: options.clock,
      timeoutMs: options.timeoutMs,
      isClosed: () => connection.closed?.aborted === true,
      isKeeping: cacheOptions !== false,
      lists: askForLists(lists),
    }),
    request: createExtensionRequest(respond, seen),
    cache,
    get serverInfo() {
      return seen.server
    },
  }
  return { client, parts: createParts({ tools: toolCalls, options, seen }), callTool: outcomesOf(calls.callTool) }
}
