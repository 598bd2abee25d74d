import { type JsonObject, quoteName } from '@x/core'
import { errorCodes, McpError } from '@x/schema'

/**
 * Creates the error for a request to which the upstream gave no answer. The cause goes to the log, because it may
 * contain addresses and secrets.
 */
export function noAnswerError(name: string, limitMs?: number): McpError {
  const limit = limitMs === undefined ? '' : ` within ${limitMs} ms`
  return upstreamError(name, `gave no answer${limit}`)
}

/** Creates the error for a result that is not of the type of its method. */
export function invalidResultError(name: string): McpError {
  return upstreamError(name, 'gave an invalid result')
}

/** Creates the error for a request that was not sent, because the upstream has given no answers. */
export function awayError(name: string, retryAfterMs: number): McpError {
  return upstreamError(name, 'is away', { retryAfterMs })
}

/** Creates the error for a call whose process cannot be reached any more. */
export function lostCallError(name: string): McpError {
  return upstreamError(name, 'has the call at an instance that gave no answer: the call may have acted')
}

function upstreamError(name: string, problem: string, more: JsonObject = {}): McpError {
  const data = { upstream: name, ...more }
  return new McpError(errorCodes.internal, `Upstream ${quoteName(name)} ${problem}`, { data })
}

/** Creates the one error for every `requestState` that the proxy does not accept. */
export function invalidStateError(): McpError {
  return new McpError(errorCodes.invalidParams, 'Invalid or expired requestState', { data: { reason: 'requestState' } })
}
