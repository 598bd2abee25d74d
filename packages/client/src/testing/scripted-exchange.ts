import type { Call, Exchange } from '@x/exchange'
import { isJsonObject, type JsonObject, type RpcRequest, type WireError } from '@x/schema'

export interface ReceivedRequest {
  readonly request: RpcRequest
  readonly call: Call
  /** The params without `_meta`. */
  readonly params: JsonObject
  readonly meta: JsonObject
}

/** Answers a request with a result or an error. */
export type Script = (received: ReceivedRequest) => JsonObject | { readonly error: WireError } | Promise<JsonObject>

/** Answers with a script, and records its requests. */
export interface ScriptedExchange extends Exchange {
  readonly received: ReceivedRequest[]
}

export function createScriptedExchange(script: Script): ScriptedExchange {
  const received: ReceivedRequest[] = []
  const exchange: Exchange = async (request, call) => {
    const { _meta, ...params } = request.params ?? {}
    const one = { request, call, params, meta: isJsonObject(_meta) ? _meta : {} }
    received.push(one)
    const answer = await script(one)
    if (isWireError(answer)) return { jsonrpc: '2.0', id: request.id, error: answer.error }
    return { jsonrpc: '2.0', id: request.id, result: answer }
  }
  return Object.assign(exchange, { received })
}

function isWireError(answer: JsonObject | { readonly error: WireError }): answer is { readonly error: WireError } {
  return isJsonObject(answer.error) && typeof answer.error.code === 'number'
}

/** Never settles. */
export const pendingPromise = new Promise<JsonObject>(() => {})

export const createTextResult = (text: string): JsonObject => ({
  resultType: 'complete',
  content: [{ type: 'text', text }],
})

/** A page that is fresh for a minute. */
export const createToolsPage = (tools: readonly JsonObject[], more: JsonObject = {}): JsonObject => ({
  resultType: 'complete',
  tools,
  ttlMs: 60_000,
  cacheScope: 'private',
  ...more,
})

export const createMinimalTool = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  inputSchema: { type: 'object' },
  ...more,
})

export const hostInfo = { name: 'host', version: '1.0.0' } as const
