import { errorCodes, isJsonObject, type RpcResponse } from '@x/schema'

/**
 * Returns true if an answer asks for nothing but the retry, as one does that hands off a call (basic/patterns/mrtr). The retry should
 * reach another instance, and over the connection that brought this one it would come back.
 */
export function movesOn(response: RpcResponse): boolean {
  if (!('result' in response)) return false
  const { resultType, inputRequests } = response.result
  return resultType === 'input_required' && inputRequests === undefined
}

/** After how many seconds a call may come again that was refused for the server's load; undefined for any other answer. */
export function retryAfterSeconds(response: RpcResponse): number | undefined {
  if (!('error' in response) || response.error.code !== errorCodes.internal) return undefined
  const { data } = response.error
  if (!isJsonObject(data) || data['reason'] !== 'overloaded') return undefined
  const { retryAfterMs } = data
  return typeof retryAfterMs === 'number' && retryAfterMs >= 0 ? Math.max(1, Math.ceil(retryAfterMs / 1000)) : undefined
}
