import { type Call, type Exchange, isJsonObject, type JsonObject, type RpcRequest, type WireError } from '@x/schema'
import { sessionKey } from '../session-metadata.ts'

/** A request as it came. */
export interface ReceivedRequest {
  readonly request: RpcRequest
  readonly call: Call
  /** What it says of its session. */
  readonly session: JsonObject | undefined
}

/** An exchange that answers as the test says, and keeps what it was asked. */
export interface ScriptedExchange extends Exchange {
  readonly received: ReceivedRequest[]
}

/** Answers with what the script gives: a result, or an error. */
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

/** The host of these tests. */
export const host = { name: 'host', version: '1.0.0' } as const

/** A result of `sessions/create`. */
export function createSessionResult(session: unknown): JsonObject {
  return JSON.parse(JSON.stringify({ resultType: 'complete', session }))
}

/** A tool's result that says something of the session. */
export function createTextResult(text: string, session?: JsonObject): JsonObject {
  const meta = session === undefined ? {} : { _meta: { [sessionKey]: session } }
  return { resultType: 'complete', content: [{ type: 'text', text }], ...meta }
}

function isError(answer: JsonObject | WireError): answer is WireError {
  return 'code' in answer && typeof answer.code === 'number'
}
