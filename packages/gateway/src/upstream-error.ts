import { quoteName } from '@x/core'
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

function upstreamError(name: string, problem: string): McpError {
  return new McpError(errorCodes.internal, `Upstream ${quoteName(name)} ${problem}`, { data: { upstream: name } })
}

/** Creates the one error for every `requestState` that the proxy does not accept. */
export function invalidStateError(): McpError {
  return new McpError(errorCodes.invalidParams, 'Invalid or expired requestState', { data: { reason: 'requestState' } })
}
