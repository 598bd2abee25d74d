import { isLimitError, isUnavailable } from '@x/core'
import { limitErrorToMcp, unavailableError } from '@x/exchange'
import { errorResponse, type RequestId, type RpcError } from '@x/schema'
import { quotaError } from '@x/exchange/internal'
import { isStateError } from '@x/state-codec'
import type { Deps } from './deps.ts'

/** Milliseconds after which a caller that has used up its quota of a store should try again. */
const quotaRetryMs = 1000

/**
 * Answers an error of the adapters. The reason of a reached limit or an unreachable store is kept, and an `McpError` is
 * unchanged; any other error becomes -32603 without detail.
 */
export function toLegacyErrorResponse(
  id: RequestId | undefined,
  error: unknown,
  { ledger }: Pick<Deps, 'ledger'>,
): RpcError {
  if (isLimitError(error)) return errorResponse(id, limitErrorToMcp(error))
  if (isStateError(error) && error.code === 'quota') {
    const { retryAfterMs = quotaRetryMs } = error
    const { perCaller: max } = ledger.boundOf('states')
    return errorResponse(id, quotaError({ limit: 'states', max, retryAfterMs }))
  }
  // No handler has run, because the adapters use stores only before a call. For the time between two rounds, see
  // `toBegunResponse`.
  return errorResponse(id, isUnavailable(error) ? unavailableError({ begun: false, cause: error }) : error)
}
