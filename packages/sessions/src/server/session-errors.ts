import { isLimitError, isUnavailable } from '@x/core'
import { limitErrorToMcp, unavailableError } from '@x/exchange'
import { errorCodes, isMcpError, McpError } from '@x/schema'
import { quotaError } from '@x/exchange/internal'
import { isStateError } from '@x/state-codec'
import { isSessionError } from '../session-error.ts'
import { sessionNotFoundCode } from '../session-metadata.ts'

/**
 * For a token of an instance whose clock is ahead. It is accepted once this clock, or that of another instance, has
 * reached its time.
 */
const clockRetryAfterMs = 100

/** Reports the cause to the log if the peer's error hides it. `hasBegun` says that the handler of the call had begun. */
export function toPeerError(
  error: unknown,
  { report, hasBegun = false }: { readonly report: (error: unknown) => void; readonly hasBegun?: boolean | undefined },
): McpError {
  if (isMcpError(error)) return error
  if (isSessionError(error) && error.sessionId !== undefined) {
    report(error.cause)
    return new McpError(sessionNotFoundCode, error.message, { data: { sessionId: error.sessionId } })
  }
  if (isLimitError(error)) return limitErrorToMcp(error)
  report(error)
  if (isTransient(error))
    return unavailableError({
      begun: hasBegun,
      ...(!isUnavailable(error) && { retryAfterMs: clockRetryAfterMs }),
      cause: error,
    })
  return toQuotaError(error) ?? new McpError(errorCodes.internal, 'Internal error')
}

/**
 * True for a store that cannot be reached, and for a token from the future: if clocks differ, another instance accepts
 * it at once, and this one soon. These errors end no session.
 */
export function isTransient(error: unknown): boolean {
  return isUnavailable(error) || (isStateError(error) && error.code === 'not_yet')
}

/** For a caller that has reached its quota of the store. Undefined for any other failure. */
export function toQuotaError(error: unknown): McpError | undefined {
  if (!isStateError(error) || error.quota === undefined) return undefined
  return quotaError({ ...error.quota, retryAfterMs: error.retryAfterMs })
}

/** For a request whose session is missing, malformed or not allowed. */
export function createInvalidSessionError(issue: string): McpError {
  return new McpError(errorCodes.invalidParams, `Invalid params: ${issue}`, { data: { reason: 'session' } })
}
