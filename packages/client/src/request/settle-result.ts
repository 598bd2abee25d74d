import { isJsonObject, type JsonObject, type MethodRow, methodRow, type RpcError, type RpcResponse } from '@x/schema'
import { type CallPlace, ClientError, noteOtherResult } from '../client-error.ts'
import { type Asked, parseAsked } from '../rounds/asked.ts'
import { type ClientMethod, type CompleteResults, readResult } from './complete-results.ts'

/**
 * The complete result of a response, or what the server wants before it. Throws {@link ClientError}: `rpc` for the peer's
 * error, `invalid_result` for a result that is not one.
 */
export function settleResult<M extends ClientMethod>(
  method: M,
  response: RpcResponse,
  place: () => CallPlace,
): CompleteResults[M] | Asked {
  if ('error' in response) throw peerError(response, place())
  const row = methodRow(method)
  const { result } = response
  const type = result.resultType
  if (type !== undefined && type !== 'complete') return unfinished(result, row, place)
  const checked = readResult(method, normal(result, row))
  if ('issue' in checked) {
    throw new ClientError('invalid_result', `the result is not valid at ${checked.issue}`, place())
  }
  return checked.result
}

/** The error of a call that the peer answered with one. */
export function peerError({ error: rpc }: RpcError, place: CallPlace): ClientError {
  return new ClientError('rpc', `the server answered ${rpc.code} ${shown(rpc.message, 1000)}`, { ...place, rpc })
}

function unfinished(result: JsonObject, row: MethodRow | undefined, place: () => CallPlace): Asked {
  const { resultType: type } = result
  if (type !== 'input_required' || !row?.asks) {
    const wrong = type === 'input_required' ? 'no server may answer here' : 'this client does not know'
    const why = `resultType is ${JSON.stringify(type)?.slice(0, 100)}, which ${wrong}`
    throw noteOtherResult(new ClientError('invalid_result', why, place()), result)
  }
  const asked = parseAsked(result)
  if ('issue' in asked) throw new ClientError('invalid_result', `the result is not valid at ${asked.issue}`, place())
  return asked
}

/**
 * A result with what servers of earlier revisions leave out: no `resultType` means complete (basic/index, result
 * responses), no `ttlMs` or a negative one means stale at once (server/utilities/caching).
 */
function normal(result: JsonObject, row: MethodRow | undefined): JsonObject {
  const typed = result.resultType === undefined ? { ...result, resultType: 'complete' } : result
  return row?.cached ? hinted(typed) : typed
}

function hinted(result: JsonObject): JsonObject {
  const { ttlMs = 0, cacheScope = 'private' } = result
  const isNegative = typeof ttlMs === 'number' && ttlMs < 0
  if (!isNegative && ttlMs === result.ttlMs && cacheScope === result.cacheScope) return result
  return { ...result, ttlMs: isNegative ? 0 : ttlMs, cacheScope }
}

/** What a result says of the server's software, for people. */
export function serverInfoOf(response: RpcResponse): { name: string; version: string } | undefined {
  const meta = 'result' in response ? response.result._meta : undefined
  const info = isJsonObject(meta) ? meta['io.modelcontextprotocol/serverInfo'] : undefined
  if (!isJsonObject(info) || typeof info.name !== 'string' || typeof info.version !== 'string') return undefined
  return { name: shown(info.name), version: shown(info.version) }
}

// It ends up in error messages, and so in logs, where a line of the server's own must not appear.
function shown(text: string, length = 200): string {
  return text.slice(0, length).replaceAll(/\p{Cc}/gu, ' ')
}
