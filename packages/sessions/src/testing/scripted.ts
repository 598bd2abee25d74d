import type { Call, Exchange } from '@x/exchange'
import { isJsonObject, type JsonObject, type RpcRequest, type WireError } from '@x/schema'
import { sessionKey } from '../session-metadata.ts'

export interface ReceivedRequest {
  readonly request: RpcRequest
  readonly call: Call
  /** In the `_meta` of the request. */
  readonly session: JsonObject | undefined
}

/** Answers with a script of the test, and records its requests. */
export interface ScriptedExchange extends Exchange {
  readonly received: ReceivedRequest[]
}

/** Answers with the results and errors of a script. */
export function createScriptedExchange(
  script: (received: ReceivedRequest) => JsonObject | WireError | Promise<JsonObject | WireError>,
): ScriptedExchange {
  const received: ReceivedRequest[] = []
  const exchange: Exchange = async (request, call) => {
    const meta = request.params?.['_meta']
    const session = isJsonObject(meta) && isJsonObject(meta[sessionKey]) ? meta[sessionKey] : undefined
    const one = { request, call, session }
    received.push(one)
    const answer = await script(one)
    const { id } = request
    return isError(answer) ? { jsonrpc: '2.0', id, error: answer } : { jsonrpc: '2.0', id, result: answer }
  }
  return Object.assign(exchange, { received })
}

/** The client in these tests. */
export const host = { name: 'host', version: '1.0.0' } as const

export function createSessionResult(session: unknown): JsonObject {
  return JSON.parse(JSON.stringify({ resultType: 'complete', session }))
}

/** With the given text and session metadata. */
export function createTextResult(text: string, session?: JsonObject): JsonObject {
  const meta = session === undefined ? {} : { _meta: { [sessionKey]: session } }
  return { resultType: 'complete', content: [{ type: 'text', text }], ...meta }
}

function isError(answer: JsonObject | WireError): answer is WireError {
  return 'code' in answer && typeof answer.code === 'number'
}
