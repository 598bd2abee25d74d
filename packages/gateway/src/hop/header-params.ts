import { BoundedMap } from '@x/core'
import { type Call, type Exchange, headerParamsKey, withContext } from '@x/exchange'
import {
  encodeHeaderArguments,
  errorCodes,
  findMethodRow,
  type HeaderParam,
  isJsonObject,
  type JsonObject,
  McpError,
  parseHeaderParams,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import { createRelatedRequest } from './host-identity.ts'

/** Names come from hosts, which may invent any number. */
const maxRememberedTools = 1000
const maxPages = 100

/**
 * Tools whose arguments HTTP headers repeat. A host over stdio sends no headers, but a server over HTTP requires them
 * (basic/transports/streamable-http, custom headers from tool parameters).
 */
export class HeaderParamTools {
  readonly #paramsByTool = new BoundedMap<string, readonly HeaderParam[]>(maxRememberedTools)

  /**
   * Sends a request, with headers made from its arguments if the host sent none. If the server rejects a tool's
   * headers, reads its definition and sends the request once more, which is safe, because a server checks the headers
   * before it runs the tool.
   */
  async send(exchange: Exchange, request: RpcRequest, call: Call): Promise<RpcResponse> {
    const name = toolNameOf(request)
    if (name === undefined || call.context.get(headerParamsKey) !== undefined) return exchange(request, call)
    const response = await exchange(request, this.#withHeaders(name, request, call))
    if (!('error' in response) || response.error.code !== errorCodes.headerMismatch) return response
    const params = await findHeaderParams(exchange, request, call)
    if (params === undefined) return response
    this.#paramsByTool.set(name, params)
    return exchange(request, this.#withHeaders(name, request, call))
  }

  #withHeaders(name: string, { params }: RpcRequest, call: Call): Call {
    const headerParams = this.#paramsByTool.get(name)
    if (headerParams === undefined) return call
    const args = params?.['arguments']
    const headers = encodeHeaderArguments(headerParams, isJsonObject(args) ? args : {})
    limitHeaderParams(headers)
    return withContext(call, headerParamsKey, headers)
  }
}

/** Common servers and proxies refuse a line of more than 8 KiB, and 16 KiB of headers together. */
const maxHeaderParamsLength = 6 * 1024

/** Throws if a tool's parameters are too long for the headers of a request. */
export function limitHeaderParams(headers: ReadonlyMap<string, string>): void {
  let length = 0
  for (const [name, value] of headers) length += name.length + value.length
  if (length <= maxHeaderParamsLength) return
  const message = `The parameters that headers repeat have ${length} characters together: send at most ${maxHeaderParamsLength}`
  throw new McpError(errorCodes.invalidParams, message)
}

function toolNameOf({ method, params }: RpcRequest): string | undefined {
  const name = params?.['name']
  // Calls of tools are the only method with effects, and the only one with header parameters.
  return findMethodRow(method)?.hasEffects === true && typeof name === 'string' ? name : undefined
}

async function findHeaderParams(
  exchange: Exchange,
  request: RpcRequest,
  call: Call,
): Promise<readonly HeaderParam[] | undefined> {
  const { name } = request.params ?? {}
  let cursor: JsonObject = {}
  for (let page = 0; page < maxPages; page += 1) {
    const response = await exchange(createRelatedRequest(request, 'tools/list', cursor), call)
    if ('error' in response) return undefined
    const { tools, nextCursor } = response.result
    const tool = Array.isArray(tools) ? tools.find((each) => isJsonObject(each) && each['name'] === name) : undefined
    if (isJsonObject(tool)) return paramsOf(tool)
    if (typeof nextCursor !== 'string') return undefined
    cursor = { cursor: nextCursor }
  }
  return undefined
}

function paramsOf({ inputSchema }: JsonObject): readonly HeaderParam[] | undefined {
  const parsed = isJsonObject(inputSchema) ? parseHeaderParams(inputSchema) : undefined
  return parsed !== undefined && 'params' in parsed ? parsed.params : undefined
}
