import {
  type JsonObject,
  type Method,
  type MethodRow,
  type MethodTypes,
  methods,
  type PaginatedRequestParams,
} from '@x/schema'
import { readPage } from '../compile/catalog.ts'
import type { Awaitable } from '../request/awaitable.ts'
import type { ServedRequest } from '../replay/served-request.ts'
import { completeArgument } from './completion.ts'
import { getPrompt } from './prompts.ts'
import { listen } from './listen.ts'
import { listResources } from './listed-resources.ts'
import { readResource } from './resources.ts'
import { callTool } from './tools.ts'

/** One of the protocol's methods, with the function that handles it. */
export interface ServedMethod {
  readonly name: Method
  readonly capability: MethodRow['capability']
  readonly isStreaming: MethodRow['isStreaming']
  /** Checks the params and returns the result. Throws the `McpError` that the client receives. */
  readonly handle: (params: JsonObject | undefined, request: ServedRequest) => Awaitable<JsonObject>
}

const servedMethods = new Map<string, ServedMethod>([
  methodEntry('server/discover', (_params, { catalog }) => catalog.discoverResult),
  methodEntry('tools/list', pageOf('tools')),
  methodEntry('tools/call', callTool),
  methodEntry('prompts/list', pageOf('prompts')),
  methodEntry('prompts/get', getPrompt),
  methodEntry('resources/list', listResources),
  methodEntry('resources/templates/list', pageOf('templates')),
  methodEntry('resources/read', readResource),
  methodEntry('completion/complete', completeArgument),
  methodEntry('subscriptions/listen', listen),
])

/** Undefined for a method that this package does not support. */
export function findMethod(name: string): ServedMethod | undefined {
  return servedMethods.get(name)
}

function methodEntry<M extends Method>(
  name: M,
  handler: (params: MethodTypes[M]['params'], request: ServedRequest) => Awaitable<JsonObject>,
): [string, ServedMethod] {
  const row: MethodRow<MethodTypes[M]['params']> = methods[name]
  const { capability, isStreaming } = row
  return [name, { name, capability, isStreaming, handle: (params, request) => handler(row.params(params), request) }]
}

/**
 * Makes the handler that lists the definitions of a kind, for the caller (server/tools, server/prompts,
 * server/resources).
 */
function pageOf(kind: 'tools' | 'prompts' | 'templates') {
  return ({ cursor }: PaginatedRequestParams, { catalog, call }: ServedRequest): JsonObject =>
    readPage(catalog[kind], cursor, call)
}
