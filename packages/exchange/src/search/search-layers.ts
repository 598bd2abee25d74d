import { isJsonArray, isJsonObject, type JsonObject } from '@x/core'
import {
  encodeHeaderArguments,
  encodeHeaderValue,
  errorResponse,
  metaKeys,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import { isToolFor } from '@x/schema/internal'
import { callHeadersKey, headerParamsKey, searchListKey, withContext } from '../call/call-context.ts'
import { type Call, contextKey, type Exchange, type Middleware } from '../call/exchange.ts'
import type { SearchedServer } from '../server/tool-search.ts'
import { callName, isReadOnlyByName, readDispatch, readQuery, searchName, searchTools } from './search-tools.ts'
import { ToolIndex } from './tool-index.ts'

/** What requests need of a search's options. */
export interface SearchSettings {
  readonly above: number
  readonly results: number
  readonly always: ReadonlySet<string>
  /** Undefined if all clients receive the same list. */
  readonly isDirect: ((request: RpcRequest) => boolean) | undefined
}

/** Of the definitions in one result. The first is always there: without it, its tool cannot be called. */
// limit: search of tools | count | characters of the definitions in a result | the next ones are named
const maxResultCharacters = 20_000
const maxNames = 10
const maxPages = 100

/** Set for a call that came through a tool of the search, until it reaches the server. True if it may only read. */
const dispatchKey = contextKey<boolean | undefined>('x/tool-search-dispatch')

interface Received {
  readonly next: Exchange
  readonly request: RpcRequest
  readonly call: Call
}

/**
 * Goes around everything else. Further in, a call through the search is a direct call of the found tool, and a search
 * is a list: what authorizes, limits, filters or records these does so here too.
 */
export function createOutermost(server: SearchedServer, settings: SearchSettings): Middleware {
  const index = new ToolIndex()
  return (next) => async (request, call) => {
    if (request.method === 'tools/list') return listWithSearch({ next, request, call }, settings)
    if (request.method !== 'tools/call') return next(request, call)
    const { name } = request.params ?? {}
    if (name === searchName) return search({ next, request, call }, { server, settings, index })
    const isReadOnly = isReadOnlyByName.get(name)
    return isReadOnly === undefined ? next(request, call) : dispatch({ next, request, call }, server, isReadOnly)
  }
}

async function listWithSearch({ next, request, call }: Received, settings: SearchSettings): Promise<RpcResponse> {
  const { above, always, isDirect } = settings
  // A cursor belongs to a list that the caller receives page by page.
  if (isDirect?.(request) === true || request.params?.['cursor'] !== undefined)
    return scope(await next(request, call), settings)
  const list = await readWholeList({ next, request, call })
  if ('response' in list) return list.response
  if (list.tools.length <= above) return list.first
  const listed = list.tools.filter((tool) => always.has(String(tool['name'])) || isJsonObject(uiOf(tool)))
  const { nextCursor: _, ...result } = list.first.result
  const replaced = { ...result, tools: [...searchTools, ...listed], ttlMs: list.ttlMs }
  return scope({ ...list.first, result: replaced }, settings)
}

/** A shared cache must not give the list of one client to another. */
function scope(response: RpcResponse, { isDirect }: SearchSettings): RpcResponse {
  if (isDirect === undefined || 'error' in response) return response
  return { ...response, result: { ...response.result, cacheScope: 'private' } }
}

async function readWholeList({ next, request, call }: Received) {
  const first = await next(request, call)
  if ('error' in first) return { response: first }
  const tools: JsonObject[] = []
  let ttlMs = Number.MAX_SAFE_INTEGER
  for (let [page, count] = [first, 1]; ; count += 1) {
    const { tools: found, nextCursor: cursor, ttlMs: pageTtlMs } = page.result
    if (isJsonArray(found)) tools.push(...found.filter(isJsonObject))
    ttlMs = Math.min(ttlMs, typeof pageTtlMs === 'number' ? pageTtlMs : 0)
    if (typeof cursor !== 'string' || count >= maxPages) return { tools, ttlMs, first }
    const response = await next({ ...request, params: { ...request.params, cursor } }, call)
    if ('error' in response) return { response }
    page = response
  }
}

async function search(
  { next, request, call }: Received,
  { server, settings, index }: { server: SearchedServer; settings: SearchSettings; index: ToolIndex },
): Promise<RpcResponse> {
  const { _meta, arguments: args } = request.params ?? {}
  const listRequest = { ...request, method: 'tools/list', params: isJsonObject(_meta) ? { _meta } : {} }
  const list = await readWholeList({ next, request: listRequest, call: withContext(call, searchListKey, true) })
  if ('response' in list) return list.response
  const read = readQuery(args)
  if ('problem' in read) return toolError(request, server, read.problem)
  const found = await index.search(
    read.query,
    list.tools.filter((tool) => isToolFor('model', tool)),
  )
  const structuredContent = describeFound(found, settings.results)
  const content = [{ type: 'text', text: JSON.stringify(structuredContent) }]
  return completeSearch(request, server, { content, structuredContent })
}

function uiOf({ _meta }: JsonObject): JsonObject | undefined {
  const ui = isJsonObject(_meta) ? _meta['ui'] : undefined
  return isJsonObject(ui) ? ui : undefined
}

function describeFound(found: readonly JsonObject[], results: number): JsonObject {
  const tools: JsonObject[] = []
  const more: string[] = []
  let length = 0
  for (const { name, description, inputSchema, annotations } of found.slice(0, results + maxNames)) {
    const definition = { name, description, inputSchema, ...(annotations && { annotations }) }
    const added = tools.length < results ? JSON.stringify(definition).length : Infinity
    if (tools.length > 0 && length + added > maxResultCharacters) {
      more.push(String(name))
      continue
    }
    tools.push(definition)
    length += added
  }
  return { tools, more: more.slice(0, maxNames) }
}

function dispatch({ next, request, call }: Received, server: SearchedServer, isReadOnly: boolean) {
  const { arguments: given, ...params } = request.params ?? {}
  const read = readDispatch(given)
  if ('problem' in read) return toolError(request, server, read.problem)
  const { name, args } = read
  const direct = { ...request, params: { ...params, name, ...(args && { arguments: args }) } }
  const named = withContext(withName(call, name), dispatchKey, isReadOnly)
  if (call.context.get(headerParamsKey) === undefined) return next(direct, named)
  return next(direct, withContext(named, headerParamsKey, encodeParams(server, direct.params)))
}

/** Over HTTP, the host has sent the name of the search's tool; the call gets that of a direct call. */
function withName(call: Call, name: string): Call {
  const headers = call.context.get(callHeadersKey)
  if (headers === undefined) return call
  const isName = (header: string): boolean => header.toLowerCase() === 'mcp-name'
  const value = encodeHeaderValue(name)
  return withContext(call, callHeadersKey, {
    get: (header) => (isName(header) ? value : headers.get(header)),
    forEach: (visit) => headers.forEach((own, header) => visit(isName(header) ? value : own, header)),
    setResponseHeader: (header, text) => headers.setResponseHeader?.(header, text),
  })
}

/** Without headers, an upstream of a gateway gets those of its own definition, and a server compares nothing. */
function encodeParams(server: SearchedServer, call: { readonly name: string; readonly arguments?: JsonObject }) {
  const params = server.headerParamsOf?.(call.name)
  try {
    return params && encodeHeaderArguments(params, call.arguments)
  } catch {
    // No header can have this value.
    return undefined
  }
}

/** Goes around the server itself, and checks calls that came through the search, after all rules. */
export function createInnermost(server: SearchedServer): Middleware {
  return (next) => async (request, call) => {
    const isReadOnly = call.context.get(dispatchKey)
    if (isReadOnly === undefined) return next(request, call)
    const direct = withContext(call, dispatchKey, undefined)
    try {
      const tool = await server.findTool(String(request.params?.['name']), request, direct)
      const problem = tool && findCallProblem(tool, isReadOnly)
      if (problem !== undefined) return toolError(request, server, problem)
    } catch (error) {
      // A direct call has the same error, such as the login that its caller needs, and is reported there.
      if (isReadOnly) return errorResponse(request.id, error)
    }
    return next(request, direct)
  }
}

function findCallProblem(tool: JsonObject, isReadOnly: boolean): string | undefined {
  const { name, annotations } = tool
  if (!isToolFor('model', tool)) return `${String(name)} is for pages of this server, and not for models`
  if (!isReadOnly || (isJsonObject(annotations) && annotations['readOnlyHint'] === true)) return undefined
  return `${String(name)} may change something: call it with ${callName}`
}

function toolError(request: RpcRequest, server: SearchedServer, text: string): RpcResponse {
  return completeSearch(request, server, { isError: true, content: [{ type: 'text', text }] })
}

function completeSearch(
  { id }: RpcRequest,
  { info: { name, version } }: SearchedServer,
  result: JsonObject,
): RpcResponse {
  const _meta = { [metaKeys.serverInfo]: { name, version } }
  return { jsonrpc: '2.0', id, result: { resultType: 'complete', ...result, _meta } }
}
