import { isLimitError, isUnavailable } from '@x/core'
import { errorResponse, limitErrorToMcp, type RequestId, type RpcError, unavailableError } from '@x/schema'
import { quotaError } from '@x/schema/internal'
import { isStateError } from '@x/state-codec'
import type { Deps } from './deps.ts'

/** Milliseconds after which a caller whose records fill its share of a store may try again. */
const quotaRetryMs = 1000

/**
 * Turns an error of the adapters into the response that a client receives. A reached limit and an unreachable store
 * keep their reasons, an `McpError` stays as it is, and any other error is -32603 without detail.
 */
export function toErrorResponse(id: RequestId | undefined, error: unknown, { ledger }: Pick<Deps, 'ledger'>): RpcError {
  if (isLimitError(error)) return errorResponse(id, limitErrorToMcp(error))
  if (isStateError(error) && error.code === 'quota') {
    const { retryAfterMs = quotaRetryMs } = error
    const { perCaller: max } = ledger.boundOf('states')
    return errorResponse(id, quotaError({ limit: 'states', max, retryAfterMs }))
  }
  // No handler has run: the adapters ask stores before a call and between its rounds.
  return errorResponse(id, isUnavailable(error) ? unavailableError({ begun: false, cause: error }) : error)
}
