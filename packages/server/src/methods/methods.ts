import { type JsonObject, type Method, type MethodRow, type MethodTypes, methods, type RequestParams } from '@x/schema'
import type { Awaitable } from '../request/awaitable.ts'
import type { ServedRequest } from '../replay/served-request.ts'
import { completeArgument } from './completion.ts'
import { getPrompt, listPrompts } from './prompts.ts'
import { listen } from './listen.ts'
import { listResources } from './listed-resources.ts'
import { listResourceTemplates, readResource } from './resources.ts'
import { callTool, listTools } from './tools.ts'

/** One of the protocol's methods, with the function that handles it. */
export interface ServedMethod {
  readonly name: Method
  readonly capability: MethodRow['capability']
  readonly isStreaming: MethodRow['isStreaming']
  /** Checks the params and returns the result. Throws the `McpError` that the client receives. */
  readonly handle: (params: JsonObject | undefined, request: ServedRequest) => Awaitable<JsonObject>
}

const servedMethods = new Map<string, ServedMethod>([
  methodEntry('server/discover', discover),
  methodEntry('tools/list', listTools),
  methodEntry('tools/call', callTool),
  methodEntry('prompts/list', listPrompts),
  methodEntry('prompts/get', getPrompt),
  methodEntry('resources/list', listResources),
  methodEntry('resources/templates/list', listResourceTemplates),
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

function discover(_params: RequestParams, { catalog }: ServedRequest): JsonObject {
  return catalog.discoverResult
}
