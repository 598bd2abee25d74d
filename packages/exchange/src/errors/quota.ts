import { errorCodes, McpError } from '@x/schema'
import type { JsonObject } from '@x/core'

/** `data.reason` of the error for a caller whose quota is full. Over HTTP its status is 429 (RFC 6585, section 4). */
export const quotaReason = 'quota'

/**
 * Error for a caller whose quota is full. Message and `data` name the limit and the time after which the caller may try
 * again.
 */
export function quotaError({
  limit,
  max,
  retryAfterMs,
  advice,
}: {
  /** `LedgerKind` that the quota limits, such as `streams`. */
  readonly limit: string
  readonly max: number
  /** Milliseconds until another attempt may succeed. Undefined if waiting does not help. */
  readonly retryAfterMs: number | undefined
  /** What the caller can do to make room in the quota, such as `end a subscription`. */
  readonly advice?: string | undefined
}): McpError {
  const retryAdvice = retryAfterMs === undefined ? undefined : `try again in ${retryAfterMs} ms`
  const remedies = [advice, retryAdvice].filter((remedy) => remedy !== undefined).join(', or ')
  const message = `You have reached ${limit}, which is ${max} for each caller${remedies === '' ? '' : `: ${remedies}`}`
  const data: JsonObject = { reason: quotaReason, limit, max, ...(retryAfterMs !== undefined && { retryAfterMs }) }
  return new McpError(errorCodes.internal, message, { data })
}
