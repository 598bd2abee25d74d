import { type Log, quoteText, toPrintableLine } from '@x/core'
import {
  isJsonObject,
  type JsonObject,
  type MethodRow,
  findMethodRow,
  type RpcError,
  type RpcResponse,
} from '@x/schema'
import { notSentReason } from '@x/exchange/internal'
import { type CallErrorContext, ClientError, attachUnknownResult } from './client-error.ts'
import { type InputRequired, parseInputRequired } from './input-required.ts'
import { type ClientMethod, type CompleteResults, checkCompleteResult } from './complete-results.ts'

/**
 * Reads a response: its complete result, or the input that the server requires. Throws {@link ClientError} with the
 * code `rpc` for an error response, and `invalid_result` for an invalid result. The log says what was left out of a list.
 */
export function parseResult<M extends ClientMethod>(
  method: M,
  response: RpcResponse,
  getErrorContext: () => CallErrorContext,
  log?: Log,
): CompleteResults[M] | InputRequired {
  if ('error' in response) throw peerError(response, getErrorContext())
  const row = findMethodRow(method)
  const { result } = response
  const type = result.resultType
  if (type !== undefined && type !== 'complete') return parseIncompleteResult(result, row, getErrorContext)
  const checkOutcome = checkCompleteResult(method, normalizeResult(method, result, row), log)
  if ('issue' in checkOutcome) {
    throw new ClientError('invalid_result', `the result is not valid at ${checkOutcome.issue}`, getErrorContext())
  }
  return checkOutcome.result
}

/** For a call to which the server, or the connection in its place, responded with an error. */
export function peerError({ error: rpc }: RpcError, errorContext: CallErrorContext): ClientError {
  const message = toPrintableLine(rpc.message, 1000)
  const isNotSent = isJsonObject(rpc.data) && rpc.data.reason === notSentReason
  return new ClientError('rpc', isNotSent ? message : `the server answered ${rpc.code} ${message}`, {
    ...errorContext,
    rpc,
  })
}

function parseIncompleteResult(
  result: JsonObject,
  row: MethodRow | undefined,
  getErrorContext: () => CallErrorContext,
): InputRequired {
  const { resultType: type } = result
  if (type !== 'input_required' || !row?.canRequireInput) {
    const problem = type === 'input_required' ? 'no server may answer here' : 'this client does not know'
    const reason = `resultType is ${quoteText(type)}, which ${problem}`
    throw attachUnknownResult(new ClientError('invalid_result', reason, getErrorContext()), result)
  }
  const requiredInput = parseInputRequired(result)
  if ('issue' in requiredInput)
    throw new ClientError('invalid_result', `the result is not valid at ${requiredInput.issue}`, getErrorContext())
  return requiredInput
}

/**
 * Adds what servers of earlier revisions omit. A result without `resultType` is complete (basic/index, result
 * responses); one without `ttlMs`, or with a negative one, is stale at once (server/utilities/caching); a tool result
 * with only structured content gets an empty `content`.
 */
function normalizeResult(method: string, result: JsonObject, row: MethodRow | undefined): JsonObject {
  const hasStructureAlone = method === 'tools/call' && 'structuredContent' in result && result.content === undefined
  const resultWithContent = hasStructureAlone ? { ...result, content: [] } : result
  const resultWithType =
    result.resultType === undefined ? { ...resultWithContent, resultType: 'complete' } : resultWithContent
  return row?.isCacheable ? withParsedCacheHints(resultWithType) : resultWithType
}

function withParsedCacheHints(result: JsonObject): JsonObject {
  const { ttlMs = 0, cacheScope = 'private' } = result
  const isNegative = typeof ttlMs === 'number' && ttlMs < 0
  if (!isNegative && ttlMs === result.ttlMs && cacheScope === result.cacheScope) return result
  return { ...result, ttlMs: isNegative ? 0 : ttlMs, cacheScope }
}

/** The server's name and version in a result, for display. */
export function serverInfoOf(response: RpcResponse): { name: string; version: string } | undefined {
  const meta = 'result' in response ? response.result._meta : undefined
  const serverInfo = isJsonObject(meta) ? meta['io.modelcontextprotocol/serverInfo'] : undefined
  if (!isJsonObject(serverInfo) || typeof serverInfo.name !== 'string' || typeof serverInfo.version !== 'string')
    return undefined
  return { name: toPrintableLine(serverInfo.name, 200), version: toPrintableLine(serverInfo.version, 200) }
}
