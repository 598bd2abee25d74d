import { backoffMs, type Clock, sleep } from '@x/core'
import { errorCodes, isJsonObject, type RpcResponse } from '@x/schema'

/** The bounds for sending a call again that its server did not start. */
export interface ResendLimits {
  /** The number of times. */
  readonly retries: number
  /** Milliseconds from the first rejection; a wait that would end later is not started. */
  readonly withinMs: number
  readonly clock: Clock
  readonly signal: AbortSignal | undefined
}

/**
 * Sends a call again for as long as the server says that it has not started it, because it is overloaded or stops. A
 * call that was not started can be sent again without being run twice. Each wait is as long as the server asks and a
 * little longer, so that callers do not return at one moment. Returns the first other answer, or the last rejection.
 * Rejects with the signal's reason.
 */
export async function resendUnstartedRequest(
  failedResponse: RpcResponse,
  send: () => Promise<RpcResponse>,
  { retries, withinMs, clock, signal }: ResendLimits,
): Promise<RpcResponse> {
  const startedAt = clock.now()
  let response = failedResponse
  for (let retryCount = 0; retryCount < retries; retryCount++) {
    const requestedDelayMs = retryDelayOf(response)
    if (requestedDelayMs === undefined) return response
    const waitMs = requestedDelayMs + backoffMs(retryCount, { firstMs: Math.max(requestedDelayMs, minPauseMs), maxMs: maxPauseMs })
    if (clock.now() - startedAt + waitMs > withinMs) return response
    await sleep(waitMs, { clock, signal })
    response = await send()
  }
  return response
}

const minPauseMs = 50
const maxPauseMs = 5000

/** The reasons for which a server has not started a call. */
const retryableReasons: ReadonlySet<unknown> = new Set(['overloaded', 'stopping'])

/**
 * Returns the milliseconds after which a server that has not started a call may be asked again; undefined for every
 * other answer.
 */
function retryDelayOf(response: RpcResponse): number | undefined {
  if (!('error' in response) || response.error.code !== errorCodes.internal) return undefined
  const { data } = response.error
  if (!isJsonObject(data) || !retryableReasons.has(data['reason'])) return undefined
  const { retryAfterMs } = data
  return typeof retryAfterMs === 'number' && retryAfterMs >= 0 ? retryAfterMs : undefined
}
