import { ambiguousKeys, type KeyFlaw } from './ambiguous-keys.ts'
import { checkBytes, defaultBounds, type ParseBounds } from './bounds.ts'
import { errorCodes } from '../basic/error-codes.ts'
import { isJsonObject, type JsonObject } from '../basic/json.ts'
import { McpError } from '../basic/mcp-error.ts'
import type { RequestId, RpcError, RpcMessage, RpcNotification, RpcRequest, RpcResponse } from '../basic/rpc.ts'
import { scanText } from './scan-text.ts'

/**
 * A text as the one message that it carries. Unknown members of the message are kept and mean nothing (basic/index).
 *
 * Throws `McpError(parse)` when the text is not JSON or breaks a bound, and `McpError(invalidRequest)` when the JSON is
 * not a message; {@link unreadRequestId} then gives the id for the answer, where it could be read.
 */
export function parseMessage(text: string, bounds: ParseBounds = defaultBounds): RpcMessage {
  checkBytes(text, bounds)
  const counts = scanText(text, bounds)
  const value = parseJson(text)
  if (!isJsonObject(value)) throw new McpError(errorCodes.invalidRequest, notAnObject(value))
  const flaw = ambiguousKeys(value, counts)
  if (flaw !== undefined) throw refusal(value, flaw.message, flaw)
  return readMessage(value)
}

/** As {@link parseMessage}, for a side that asks nothing: a response is refused with `McpError(invalidRequest)`. */
export function parseRequestOrNotification(text: string, bounds?: ParseBounds): RpcRequest | RpcNotification {
  const message = parseMessage(text, bounds)
  if ('method' in message) return message
  throw new McpError(errorCodes.invalidRequest, 'The message is a response; only requests and notifications come here')
}

/** The id of the request whose text {@link parseMessage} refused, when it could be read. */
export function unreadRequestId(error: unknown): RequestId | undefined {
  return typeof error === 'object' && error !== null ? idsOfRefused.get(error) : undefined
}

/** Whether a message expects an answer. */
export function isRequest(message: RpcMessage): message is RpcRequest {
  return 'method' in message && 'id' in message
}

/** Whether a message has a method and expects no answer. */
export function isNotification(message: RpcMessage): message is RpcNotification {
  return 'method' in message && !('id' in message)
}

/** Whether a message answers a request, with a result or an error. */
export function isResponse(message: RpcMessage): message is RpcResponse {
  return !('method' in message)
}

/** Whether a message answers a request with an error. */
export function isErrorResponse(message: RpcMessage): message is RpcError {
  return 'error' in message
}

// Beside the error, not in it: what is in an error goes over the wire.
const idsOfRefused = new WeakMap<object, RequestId>()

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    const reason = text.startsWith('\ufeff') ? ': it begins with a byte order mark' : ''
    throw new McpError(errorCodes.parse, `The message is not JSON${reason}`, { cause })
  }
}

function notAnObject(value: unknown): string {
  if (!Array.isArray(value)) return 'The message must be a JSON object'
  return 'The message must be one JSON object: batches do not exist in this revision, send each message alone'
}

function readMessage(value: JsonObject): RpcMessage {
  if (value['jsonrpc'] !== '2.0') throw refusal(value, 'jsonrpc must be "2.0"')
  const kinds = Number('method' in value) + Number('result' in value) + Number('error' in value)
  if (kinds !== 1) throw refusal(value, 'A message has exactly one of method, result and error')
  if ('method' in value) return readCall(value)
  return 'result' in value ? readResult(value) : readError(value)
}

function readCall(value: JsonObject): RpcMessage {
  const { id, method, params } = value
  if (typeof method !== 'string') throw refusal(value, 'method must be a string')
  if ('id' in value && !isRequestId(id)) throw refusal(value, idRule)
  if ('params' in value && !isJsonObject(params)) throw refusal(value, 'params must be an object')
  // Every member that the type names has been checked above; the object is kept as it came, without a copy.
  return value as unknown as RpcRequest | RpcNotification
}

function readResult(value: JsonObject): RpcMessage {
  if (!isRequestId(value['id'])) throw refusal(value, idRule)
  if (!isJsonObject(value['result'])) throw refusal(value, 'result must be an object')
  // Every member that the type names has been checked above.
  return value as unknown as RpcResponse
}

function readError(value: JsonObject): RpcMessage {
  const { id, error } = value
  if (!isJsonObject(error)) throw refusal(value, 'error must be an object')
  if (!Number.isSafeInteger(error['code'])) throw refusal(value, 'error.code must be an integer')
  if (typeof error['message'] !== 'string') throw refusal(value, 'error.message must be a string')
  // Plain JSON-RPC writes null where this revision leaves the id out; servers of earlier revisions still do.
  // The cast repeats the three checks above.
  if (id === null) return { jsonrpc: '2.0', error: error as unknown as RpcError['error'] }
  if ('id' in value && !isRequestId(id)) throw refusal(value, idRule)
  // Every member that the type names has been checked above.
  return value as unknown as RpcError
}

const idRule = 'id must be a string or an integer that JSON carries exactly, and not null'

function isRequestId(id: unknown): id is RequestId {
  return typeof id === 'string' || Number.isSafeInteger(id)
}

function refusal(value: JsonObject, message: string, flaw?: KeyFlaw): McpError {
  const error = new McpError(errorCodes.invalidRequest, message)
  const id = value['id']
  if (isRequestId(id) && flaw?.ofId !== true) idsOfRefused.set(error, id)
  return error
}
