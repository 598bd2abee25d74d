import type {
  CompleteRequestParams,
  CompleteResult,
  DiscoverResult,
  Exchange,
  Implementation,
  Prompt,
  Resource,
  ResourceTemplate,
  Tool,
} from '@x/schema'
import { type ClientCache, withCache } from './caching/cache.ts'
import { createToolTrips } from './tools/call-tool.ts'
import { createOutputChecks } from './tools/check-output.ts'
import { askForLists, listsOf } from './offered-lists.ts'
import type { CallOptions, ReadOptions } from './call-options.ts'
import { type ClientParts, createParts } from './client-parts.ts'
import type { ClientOptions } from './options.ts'
import {
  alwaysComplete,
  createExtensionRequest,
  createRequest,
  createRespond,
  type ExtensionRequest,
  nothingSeen,
  placeOf,
} from './request/request.ts'
import { type AskingCalls, createAskingCalls } from './rounds/asking-calls.ts'
import { createSubscriptionCalls, type SubscriptionCalls } from './subscriptions/subscriptions.ts'
import { createToolIndex } from './tools/tool-index.ts'

/** What completion has been told already. */
export interface CompletionOptions extends CallOptions {
  /** Other arguments of the prompt, or variables of the template, by name. */
  readonly arguments?: Readonly<Record<string, string>> | undefined
}

/**
 * Typed calls over an exchange. Every method rejects with `ClientError`, or with `signal.reason` when it was cancelled.
 * Lists come item by item (`tools`) or whole (`listTools`).
 */
export interface Client extends AskingCalls, SubscriptionCalls {
  /** What the server speaks and can do (server/discover). Needed by no other call. */
  discover(options?: ReadOptions): Promise<DiscoverResult>
  /** Values for an argument that is being typed (server/utilities/completion). */
  complete(
    ref: CompleteRequestParams['ref'],
    argument: CompleteRequestParams['argument'],
    options?: CompletionOptions,
  ): Promise<CompleteResult>
  tools(options?: ReadOptions): AsyncIterable<Tool>
  listTools(options?: ReadOptions): Promise<Tool[]>
  prompts(options?: ReadOptions): AsyncIterable<Prompt>
  listPrompts(options?: ReadOptions): Promise<Prompt[]>
  resources(options?: ReadOptions): AsyncIterable<Resource>
  listResources(options?: ReadOptions): Promise<Resource[]>
  resourceTemplates(options?: ReadOptions): AsyncIterable<ResourceTemplate>
  listResourceTemplates(options?: ReadOptions): Promise<ResourceTemplate[]>
  /**
   * Calls a method that has no function here, as those of extensions have none: the request is written and waited for as all others
   * are. Gives the result as it came, unchecked, and never from the cache.
   */
  readonly request: ExtensionRequest
  /** What extensions build on: steps of this client's calls, for what came another way than as the response to a call. */
  readonly parts: ClientParts
  /** What was kept of earlier results. */
  readonly cache: ClientCache
  /** The server's software as it last named itself: for display, and unverified. */
  readonly server: Pick<Implementation, 'name' | 'version'> | undefined
}

/**
 * Makes typed calls out of an exchange: a server in memory, a connection, or anything that wraps one. Nothing is sent until
 * a call is made, and no call needs another one first.
 * Subscriptions are not opened again over an exchange whose `closed` has aborted, as that of a connection has which was closed here.
 *
 * @example
 * const client = createClient(server, { name: 'host', version: '1.0.0' })
 * const { content } = await client.callTool('greet', { name: 'Ada' })
 */
export function createClient(
  exchange: Exchange & { readonly url?: string | undefined; readonly closed?: AbortSignal | undefined },
  options: ClientOptions,
): Client {
  const seen = nothingSeen(options, exchange.url)
  const respond = createRespond(exchange, options, seen)
  const caching = withCache(createRequest(respond, seen), options.cache ?? {}, options.clock)
  const { send: once, cache } = caching
  const send = alwaysComplete(once, seen)
  const index = createToolIndex(options.onWarning)
  const context = { send, seen, maxPages: options.maxPages ?? 1000, forget: cache.clear }
  const lists = listsOf(context, index)
  const { tools, prompts, resources, templates } = lists
  const outputCheck = createOutputChecks(options)
  const toolTrips = createToolTrips({
    once,
    tools: index,
    list: tools.whole,
    checkOf: options.validateOutput && (({ tool }, place) => outputCheck(tool, place)),
    placeOf: (request) => placeOf(request, seen),
  })

  return {
    discover: async (how = {}) => {
      const result = await send({ method: 'server/discover', params: {} }, how)
      seen.versions.prefer(result.supportedVersions)
      return result
    },
    ...createAskingCalls(once, toolTrips, { options, placeOf: (call) => placeOf(call, seen) }),
    complete: (ref, argument, { arguments: others, ...how } = {}) => {
      const params = others === undefined ? { ref, argument } : { ref, argument, context: { arguments: others } }
      return send({ method: 'completion/complete', params }, how)
    },
    tools: tools.each,
    listTools: tools.whole,
    prompts: prompts.each,
    listPrompts: prompts.whole,
    resources: resources.each,
    listResources: resources.whole,
    resourceTemplates: templates.each,
    listResourceTemplates: templates.whole,
    ...createSubscriptionCalls({
      once,
      seen,
      kept: caching.kept,
      clock: options.clock,
      timeoutMs: options.timeoutMs,
      isClosed: () => exchange.closed?.aborted === true,
      isKeeping: options.cache !== false,
      lists: askForLists(lists),
    }),
    request: createExtensionRequest(respond, seen),
    parts: createParts({ tools: toolTrips, options, seen }),
    cache,
    get server() {
      return seen.server
    },
  }
}
