import { isJsonArray, isJsonObject, type JsonObject } from '@x/core'
import {
  encodeHeaderArguments,
  encodeHeaderValue,
  errorResponse,
  metaKeys,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import { callHeadersKey, headerParamsKey, searchListKey, withContext } from '../call/call-context.ts'
import { type Call, type CallHeaders, contextKey, type Exchange, type Middleware } from '../call/exchange.ts'
import type { SearchedServer } from '../server/tool-search.ts'
import {
  callName,
  type DispatchKind,
  dispatchKinds,
  readDispatch,
  readQuery,
  searchName,
  searchTools,
} from './search-tools.ts'
import { ToolIndex } from './tool-index.ts'

/** The options of a search, as its requests need them. */
export interface SearchSettings {
  readonly above: number
  readonly results: number
  readonly always: ReadonlySet<string>
  readonly isDirect: (request: RpcRequest) => boolean
  /** True if no client receives another list than the others. */
  readonly isSameForAll: boolean
}

/** Characters of the definitions in one result. The first is always there: without it, its tool cannot be called. */
// limit: search of tools | count | characters of the definitions in a result | the next ones are named
const maxResultCharacters = 20_000
/** Names in a result beside the definitions. */
const maxNames = 10
/** The number of pages that are read of one list. */
const maxPages = 100

/** Set for a call that came through a tool of the search, until it reaches the server. */
const dispatchKey = contextKey<DispatchKind | undefined>('x/tool-search-dispatch')

/**
 * Creates the middleware around everything else. Further in, a call through the search is a direct call of the found
 * tool, and a search is a list: what authorizes, limits, filters or records these does so here too.
 */
export function createOutermost(server: SearchedServer, settings: SearchSettings): Middleware {
  const index = new ToolIndex()
  return (next) => async (request, call) => {
    if (request.method === 'tools/list') return listTools(next, { request, call }, settings)
    if (request.method !== 'tools/call') return next(request, call)
    const { name } = request.params ?? {}
    if (name === searchName) return search(next, { request, call }, { server, settings, index })
    const kind = dispatchKinds.get(name)
    return kind === undefined ? next(request, call) : dispatch(next, { request, call }, { server, kind })
  }
}

/** A request with its call. */
interface Received {
  readonly request: RpcRequest
  readonly call: Call
}

async function listTools(
  next: Exchange,
  { request, call }: Received,
  { above, always, isDirect, isSameForAll }: SearchSettings,
): Promise<RpcResponse> {
  // A cursor is of a list that the caller received page by page, so it goes on.
  if (isDirect(request) || request.params?.['cursor'] !== undefined) return toPrivate(await next(request, call))
  const list = await readList(next, request, call)
  if ('response' in list) return list.response
  if (list.tools.length <= above) return list.first
  const listed = list.tools.filter((tool) => always.has(String(tool['name'])) || isJsonObject(uiOf(tool)))
  const { nextCursor: _, ...result } = list.first.result
  const replaced = { ...list.first, result: { ...result, tools: [...searchTools, ...listed], ttlMs: list.ttlMs } }
  return isSameForAll ? replaced : toPrivate(replaced)
}

/** A shared cache must not give the list of one client to another. */
function toPrivate(response: RpcResponse): RpcResponse {
  return 'error' in response ? response : { ...response, result: { ...response.result, cacheScope: 'private' } }
}

/** A list with all its pages. */
interface ReadList {
  readonly tools: readonly JsonObject[]
  readonly ttlMs: number
  readonly first: Extract<RpcResponse, { readonly result: unknown }>
}

/** Reads all pages of a list. Returns the error of a page that cannot be read. */
async function readList(
  next: Exchange,
  request: RpcRequest,
  call: Call,
): Promise<ReadList | { readonly response: RpcResponse }> {
  const first = await next(request, call)
  if ('error' in first) return { response: first }
  const tools: JsonObject[] = []
  let ttlMs = Number.MAX_SAFE_INTEGER
  let page = first
  for (let count = 1; ; count += 1) {
    const { tools: found, nextCursor, ttlMs: pageTtlMs } = page.result
    if (isJsonArray(found)) tools.push(...found.filter(isJsonObject))
    ttlMs = Math.min(ttlMs, typeof pageTtlMs === 'number' ? pageTtlMs : 0)
    if (typeof nextCursor !== 'string' || count >= maxPages) return { tools, ttlMs, first }
    const response = await next({ ...request, params: { ...request.params, cursor: nextCursor } }, call)
    if ('error' in response) return { response }
    page = response
  }
}

async function search(
  next: Exchange,
  { request, call }: Received,
  { server, settings, index }: { server: SearchedServer; settings: SearchSettings; index: ToolIndex },
): Promise<RpcResponse> {
  const { _meta, arguments: args } = request.params ?? {}
  const listRequest = { ...request, method: 'tools/list', params: isJsonObject(_meta) ? { _meta } : {} }
  const list = await readList(next, listRequest, withContext(call, searchListKey, true))
  if ('response' in list) return list.response
  const read = readQuery(args)
  if ('problem' in read) return toolError(request, server, read.problem)
  const found = await index.search(read.query, list.tools.filter(isForModels))
  const structuredContent = describe(found, settings.results)
  const content = [{ type: 'text', text: JSON.stringify(structuredContent) }]
  return succeed(request, server, { content, structuredContent })
}

/** A page calls tools that are not for models, and a host leaves them out of what a model reads. */
function isForModels(tool: JsonObject): boolean {
  const visibility = uiOf(tool)?.['visibility']
  return !isJsonArray(visibility) || visibility.includes('model')
}

/** Returns what a tool says about its page (extensions/apps). */
function uiOf({ _meta }: JsonObject): JsonObject | undefined {
  const ui = isJsonObject(_meta) ? _meta['ui'] : undefined
  return isJsonObject(ui) ? ui : undefined
}

/** Returns the definitions of the first tools, as far as they fit, and the names of the next ones. */
function describe(found: readonly JsonObject[], results: number): JsonObject {
  const tools: JsonObject[] = []
  const more: string[] = []
  let length = 0
  for (const { name, description, inputSchema, annotations } of found.slice(0, results + maxNames)) {
    const definition = { name, description, inputSchema, ...(annotations && { annotations }) }
    const added = tools.length < results ? JSON.stringify(definition).length : Number.POSITIVE_INFINITY
    const fits = length + added <= maxResultCharacters || (tools.length === 0 && more.length === 0)
    if (fits) tools.push(definition)
    else if (more.length < maxNames) more.push(String(name))
    if (fits) length += added
  }
  return { tools, more }
}

function dispatch(
  next: Exchange,
  { request, call }: Received,
  { server, kind }: { server: SearchedServer; kind: DispatchKind },
): Promise<RpcResponse> {
  const { arguments: given, ...params } = request.params ?? {}
  const read = readDispatch(given)
  if ('problem' in read) return Promise.resolve(toolError(request, server, read.problem))
  const { name, args } = read
  const direct = { ...request, params: { ...params, name, ...(args && { arguments: args }) } }
  return next(direct, withContext(withHeadersOf(call, direct.params, server), dispatchKey, kind))
}

/** Gives a call over HTTP the headers of a direct call. The host has sent those of the tool of the search. */
function withHeadersOf(
  call: Call,
  { name, arguments: args }: { name: string; arguments?: JsonObject },
  server: SearchedServer,
): Call {
  const headers = call.context.get(callHeadersKey)
  const named = headers === undefined ? call : withContext(call, callHeadersKey, nameHeaders(headers, name))
  if (call.context.get(headerParamsKey) === undefined) return named
  return withContext(named, headerParamsKey, encodeParams(name, args, server))
}

/** Without headers, an upstream of a gateway gets those of its own definition, and a server compares nothing. */
function encodeParams(name: string, args: JsonObject | undefined, { headerParamsOf }: SearchedServer) {
  const params = headerParamsOf?.(name)
  try {
    return params && encodeHeaderArguments(params, args)
  } catch {
    // A value that no header can have.
    return undefined
  }
}

function nameHeaders(headers: CallHeaders, name: string): CallHeaders {
  const isName = (header: string): boolean => header.toLowerCase() === 'mcp-name'
  const value = encodeHeaderValue(name)
  return {
    get: (header) => (isName(header) ? value : headers.get(header)),
    forEach: (visit) => headers.forEach((own, header) => visit(isName(header) ? value : own, header)),
    setResponseHeader: (header, text) => headers.setResponseHeader?.(header, text),
  }
}

/** Creates the middleware around the server itself. It checks calls that came through the search, after all rules. */
export function createInnermost(server: SearchedServer): Middleware {
  return (next) => async (request, call) => {
    const kind = call.context.get(dispatchKey)
    if (kind === undefined) return next(request, call)
    const direct = withContext(call, dispatchKey, undefined)
    return (await findRefusal({ request, call: direct }, server, kind)) ?? next(request, direct)
  }
}

async function findRefusal(
  { request, call }: Received,
  server: SearchedServer,
  kind: DispatchKind,
): Promise<RpcResponse | undefined> {
  try {
    const tool = await server.findTool(String(request.params?.['name']), request, call)
    const problem = tool && findProblem(tool, kind)
    return problem === undefined ? undefined : toolError(request, server, problem)
  } catch (error) {
    // A direct call has the same error, such as the login that its caller needs, and is reported there.
    return kind === 'any' ? undefined : errorResponse(request.id, error)
  }
}

function findProblem(tool: JsonObject, kind: DispatchKind): string | undefined {
  const { name, annotations } = tool
  if (!isForModels(tool)) return `${String(name)} is for pages of this server, and not for models`
  const isReadOnly = isJsonObject(annotations) && annotations['readOnlyHint'] === true
  return kind === 'any' || isReadOnly ? undefined : `${String(name)} may change something: call it with ${callName}`
}

function toolError(request: RpcRequest, server: SearchedServer, text: string): RpcResponse {
  return succeed(request, server, { isError: true, content: [{ type: 'text', text }] })
}

function succeed({ id }: RpcRequest, { info: { name, version } }: SearchedServer, result: JsonObject): RpcResponse {
  const _meta = { [metaKeys.serverInfo]: { name, version } }
  return { jsonrpc: '2.0', id, result: { resultType: 'complete', ...result, _meta } }
}
