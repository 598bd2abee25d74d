import { errorCodes, isJsonObject, quotaReason, type RpcResponse } from '@x/schema'

/**
 * Returns true if an answer asks for nothing but the retry, as one does that hands off a call (basic/patterns/mrtr). The retry should
 * reach another instance, and over the connection that brought this one it would come back.
 */
export function isHandOff(response: RpcResponse): boolean {
  if (!('result' in response)) return false
  const { resultType, inputRequests } = response.result
  return resultType === 'input_required' && inputRequests === undefined
}

/** The status and the header of a call that was rejected and may come again. */
export interface RetryAfterHeaders {
  /** 503 where the server is overloaded (RFC 9110, section 15.6.4), 429 where the caller has reached a quota (RFC 6585, section 4). */
  readonly status: 429 | 503
  /** Seconds after which the call may come again; undefined where waiting changes nothing. */
  readonly afterSeconds: number | undefined
}

/** Returns the head of an answer that rejects a call for the server's load or the caller's quota; undefined for any other answer. */
export function retryAfterHeaders(response: RpcResponse): RetryAfterHeaders | undefined {
  if (!('error' in response) || response.error.code !== errorCodes.internal) return undefined
  const { data } = response.error
  if (!isJsonObject(data)) return undefined
  const { reason, retryAfterMs } = data
  const isTime = typeof retryAfterMs === 'number' && retryAfterMs >= 0
  const afterSeconds = isTime ? Math.max(1, Math.ceil(retryAfterMs / 1000)) : undefined
  if (reason === quotaReason) return { status: 429, afterSeconds }
  return reason === 'overloaded' && isTime ? { status: 503, afterSeconds } : undefined
}
