import { checkByteLength, defaultBounds, type ParseBounds, scanText, type KeyCounts } from './scan-text.ts'
import { errorCodes, isMcpError, McpError } from '../basic/mcp-error.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '@x/core'
import type { RequestId, RpcError, RpcMessage, RpcNotification, RpcRequest, RpcResponse } from '../basic/rpc.ts'
import { metaKeys } from '../basic/meta-keys.ts'

/**
 * Parses one message. Unknown members are kept and ignored (basic/index).
 *
 * Throws `McpError(parse)` when the text is not JSON or exceeds a limit, and `McpError(invalidRequest)` when the JSON
 * is not a message. {@link rejectedRequestIdOf} then gives the id of the request, if it could be read.
 */
export function parseMessage(text: string, bounds: ParseBounds = defaultBounds): RpcMessage {
  checkByteLength(text, bounds)
  const counts = scanText(text, bounds)
  const value = parseMessageJson(text)
  if (!isJsonObject(value)) throw new McpError(errorCodes.invalidRequest, describeNonObject(value))
  const problem = findAmbiguousKey(value, counts)
  if (problem !== undefined) throw invalidRequestError(value, problem.message, problem)
  return readMessage(value)
}

/**
 * Parses a JSON-RPC batch, which revision 2025-03-26 has. Undefined for a text that is no array. `bounds` limits the
 * whole text, and `maxLength` the number of messages. In place of a member that is not a valid message, the result has
 * the `McpError` of {@link parseMessage}.
 *
 * Throws `McpError(parse)` when the text is not JSON or exceeds a limit. Throws `McpError(invalidRequest)` for an empty
 * batch, for one of more than `maxLength` messages, and for one with a duplicated key.
 */
export function parseBatch(
  text: string,
  maxLength: number,
  bounds: ParseBounds = defaultBounds,
): readonly (RpcMessage | McpError)[] | undefined {
  if (!/^\s*\[/.test(text)) return undefined
  checkByteLength(text, bounds)
  const counts = scanText(text, bounds)
  // The cast is safe: `JSON.parse` returns only JSON values.
  const members = parseMessageJson(text) as JsonValue
  if (!Array.isArray(members)) return undefined
  if (hasDuplicateKeys(members, counts)) {
    throw new McpError(errorCodes.invalidRequest, 'A key of the batch occurs twice; send each key once')
  }
  if (members.length === 0 || members.length > maxLength) {
    throw new McpError(errorCodes.invalidRequest, `A batch has 1 to ${maxLength} messages`)
  }
  return members.map((member) => {
    try {
      return parseMessage(JSON.stringify(member), bounds)
    } catch (error) {
      if (isMcpError(error)) return error
      throw error
    }
  })
}

/**
 * Parses for a receiver that sends no requests, and so expects no responses: throws `McpError(invalidRequest)` for one.
 */
export function parseRequestOrNotification(text: string, bounds?: ParseBounds): RpcRequest | RpcNotification {
  const message = parseMessage(text, bounds)
  if ('method' in message) return message
  throw new McpError(errorCodes.invalidRequest, 'The message is a response; only requests and notifications come here')
}

/** Undefined for a text that is no error response. */
export function findErrorResponse(text: string, bounds: ParseBounds): RpcError | undefined {
  try {
    const message = parseMessage(text, bounds)
    return isErrorResponse(message) ? message : undefined
  } catch {
    return undefined
  }
}

/** Id of the request that {@link parseMessage} rejected with this error. Undefined if the id could not be read. */
export function rejectedRequestIdOf(error: unknown): RequestId | undefined {
  return typeof error === 'object' && error !== null ? idsByError.get(error) : undefined
}

/** A request expects a response. */
export function isRequest(message: RpcMessage): message is RpcRequest {
  return 'method' in message && 'id' in message
}

/** A notification expects no response. */
export function isNotification(message: RpcMessage): message is RpcNotification {
  return 'method' in message && !('id' in message)
}

/** A response has a result or an error. */
export function isResponse(message: RpcMessage): message is RpcResponse {
  return !('method' in message)
}

/** True for a response with an error. */
export function isErrorResponse(message: RpcMessage): message is RpcError {
  return 'error' in message
}

// Ids of rejected requests. They are not in the error itself, because its content is sent to the peer.
const idsByError = new WeakMap<object, RequestId>()

function parseMessageJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    const reason = text.startsWith('\ufeff') ? ': it begins with a byte order mark' : ''
    throw new McpError(errorCodes.parse, `The message is not JSON${reason}`, { cause })
  }
}

function describeNonObject(value: unknown): string {
  if (!Array.isArray(value)) return 'The message must be a JSON object'
  return 'The message must be one JSON object: batches do not exist in this revision, send each message alone'
}

function readMessage(value: JsonObject): RpcMessage {
  if (value['jsonrpc'] !== '2.0') throw invalidRequestError(value, 'jsonrpc must be "2.0"')
  const kindCount = Number('method' in value) + Number('result' in value) + Number('error' in value)
  if (kindCount !== 1) throw invalidRequestError(value, 'A message has exactly one of method, result and error')
  if ('method' in value) return readRequestOrNotification(value)
  return 'result' in value ? readResultResponse(value) : parseErrorResponse(value)
}

function readRequestOrNotification(value: JsonObject): RpcMessage {
  const { id, method, params } = value
  if (typeof method !== 'string') throw invalidRequestError(value, 'method must be a string')
  if ('id' in value && !isRequestId(id)) throw invalidRequestError(value, idRuleMessage)
  if ('params' in value && !isJsonObject(params)) throw invalidRequestError(value, 'params must be an object')
  // The cast is safe: every member of the type was checked above. The object is kept without a copy.
  return value as unknown as RpcRequest | RpcNotification
}

function readResultResponse(value: JsonObject): RpcMessage {
  if (!isRequestId(value['id'])) throw invalidRequestError(value, idRuleMessage)
  if (!isJsonObject(value['result'])) throw invalidRequestError(value, 'result must be an object')
  // The cast is safe: every member of the type was checked above.
  return value as unknown as RpcResponse
}

function parseErrorResponse(value: JsonObject): RpcMessage {
  const { id, error } = value
  if (!isJsonObject(error)) throw invalidRequestError(value, 'error must be an object')
  if (!Number.isSafeInteger(error['code'])) throw invalidRequestError(value, 'error.code must be an integer')
  if (typeof error['message'] !== 'string') throw invalidRequestError(value, 'error.message must be a string')
  // Plain JSON-RPC writes a null id where this revision omits the id, and servers of earlier revisions still do. The
  // cast is safe: the three checks above cover every member of the type.
  if (id === null) return { jsonrpc: '2.0', error: error as unknown as RpcError['error'] }
  if ('id' in value && !isRequestId(id)) throw invalidRequestError(value, idRuleMessage)
  // The cast is safe: every member of the type was checked above.
  return value as unknown as RpcError
}

const idRuleMessage = 'id must be a string or an integer that JSON carries exactly, and not null'

function isRequestId(id: unknown): id is RequestId {
  return typeof id === 'string' || Number.isSafeInteger(id)
}

function invalidRequestError(value: JsonObject, message: string, problem?: KeyProblem): McpError {
  const error = new McpError(errorCodes.invalidRequest, message)
  const id = value['id']
  if (isRequestId(id) && problem?.affectsId !== true) idsByError.set(error, id)
  return error
}

/**
 * Finds a key that another reader, such as a gateway, could read differently from `JSON.parse`: one that occurs twice
 * in the message or anywhere in its params, or, in the message, its params or their `_meta`, one that differs from a
 * known key only in case or Unicode form.
 */
function findAmbiguousKey(message: JsonObject, counts: KeyCounts): KeyProblem | undefined {
  const params = message['params']
  const problem = findScopeProblem(messageScope, message, counts.messageKeyCount)
  if (problem !== undefined || !isJsonObject(params)) return problem
  return findParamsProblem(params, counts) ?? duplicateProblem('an object in params', hasDuplicateKeys(message, counts))
}

function findParamsProblem(params: JsonObject, counts: KeyCounts): KeyProblem | undefined {
  const meta = params['_meta']
  const problem = findScopeProblem(paramsScope, params, counts.paramsKeyCount)
  return problem !== undefined || !isJsonObject(meta) ? problem : findScopeProblem(metaScope, meta, counts.metaKeyCount)
}

/**
 * `JSON.parse` keeps only the last member with a key, so the value has fewer elements than the text if a key occurs
 * twice.
 */
function hasDuplicateKeys(value: JsonValue, { elementCount }: KeyCounts): boolean {
  const unvisitedValues = [value]
  let foundCount = 0
  // A list and no recursion, because an operator may allow any depth.
  for (let current = unvisitedValues.pop(); current !== undefined; current = unvisitedValues.pop()) {
    if (typeof current !== 'object' || current === null) continue
    const members: readonly (JsonValue | undefined)[] = Array.isArray(current) ? current : Object.values(current)
    foundCount += members.length
    for (const member of members) if (typeof member === 'object' && member !== null) unvisitedValues.push(member)
  }
  return foundCount !== elementCount
}

function duplicateProblem(name: string, isDuplicated: boolean): KeyProblem | undefined {
  if (!isDuplicated) return undefined
  const message = `A key of ${name} occurs twice, which parsers read differently; send each key once`
  return { message, affectsId: name === messageScope.name }
}

/** `affectsId` is true if another reader could read another message id. */
interface KeyProblem {
  readonly message: string
  readonly affectsId: boolean
}

interface KeyScope {
  readonly name: string
  readonly path: string
  readonly knownKeys: ReadonlySet<string>
  readonly foldedKeys: ReadonlyMap<string, string>
}

const messageScope = createKeyScope('the message', '', 'jsonrpc id method params result error')
const paramsScope = createKeyScope(
  'params',
  'params.',
  '_meta name uri arguments cursor ref argument context notifications inputResponses requestState progressToken requestId',
)
const metaScope = createKeyScope('params._meta', 'params._meta.', Object.values(metaKeys).join(' '))

function createKeyScope(name: string, path: string, keys: string): KeyScope {
  const knownKeys = keys.split(' ')
  return { name, path, knownKeys: new Set(knownKeys), foldedKeys: new Map(knownKeys.map((key) => [foldKey(key), key])) }
}

function findScopeProblem(scope: KeyScope, object: JsonObject, writtenKeyCount: number): KeyProblem | undefined {
  const keys = Object.keys(object)
  if (keys.length !== writtenKeyCount) return duplicateProblem(scope.name, true)
  for (const key of keys) {
    const intendedKey = scope.knownKeys.has(key) ? undefined : scope.foldedKeys.get(foldKey(key))
    if (intendedKey !== undefined) return foldedKeyProblem(scope, key, intendedKey)
  }
  return undefined
}

/** Readers that ignore case and Unicode form would take the key for the known one (as in CVE-2026-27896). */
function foldedKeyProblem({ path }: KeyScope, key: string, intendedKey: string): KeyProblem {
  return {
    message: `${path}${key} is not a key, ${path}${intendedKey} is: keys are compared exactly`,
    affectsId: intendedKey === 'id',
  }
}

// NFKC maps the long s and the Kelvin sign to the same ASCII letters as case folding does.
function foldKey(key: string): string {
  return key.normalize('NFKC').toLowerCase()
}
