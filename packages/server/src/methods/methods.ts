import { type JsonObject, type Method, type MethodRow, type MethodTypes, methods, type RequestParams } from '@x/schema'
import type { Awaitable } from '../request/awaitable.ts'
import type { RequestState } from '../replay/served-request.ts'
import { completeArgument } from './completion.ts'
import { getPrompt, listPrompts } from './prompts.ts'
import { listen } from './listen.ts'
import { listResources, listResourceTemplates, readResource } from './resources.ts'
import { callTool, listTools } from './tools.ts'

/** A method's row, joined with what serves it. */
export interface ServedMethod {
  readonly name: Method
  readonly capability: MethodRow['capability']
  readonly isStreaming: MethodRow['isStreaming']
  /** Checks the params, and makes the result of them. Throws the McpError that the peer is to see. */
  readonly handle: (params: JsonObject | undefined, request: RequestState) => Awaitable<JsonObject>
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

/** Returns the row of a method, undefined for one that no server of this package serves. */
export function findMethod(name: string): ServedMethod | undefined {
  return servedMethods.get(name)
}

function methodEntry<M extends Method>(
  name: M,
  handler: (params: MethodTypes[M]['params'], request: RequestState) => Awaitable<JsonObject>,
): [string, ServedMethod] {
  const row: MethodRow<MethodTypes[M]['params']> = methods[name]
  const { capability, isStreaming } = row
  return [name, { name, capability, isStreaming, handle: (params, request) => handler(row.params(params), request) }]
}

/** Returns the revisions, capabilities and instructions of the server (server/discover). */
function discover(_params: RequestParams, { catalog }: RequestState): JsonObject {
  return catalog.discoverResult
}
