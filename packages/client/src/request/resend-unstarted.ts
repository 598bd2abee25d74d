import { type Clock, errorCodes, isJsonObject, type RpcResponse } from '@x/schema'
import { pauseCall, backoffMs } from './pause.ts'

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
export async function resendUnstarted(
  failed: RpcResponse,
  send: () => Promise<RpcResponse>,
  { retries, withinMs, clock, signal }: ResendLimits,
): Promise<RpcResponse> {
  const started = clock.now()
  let response = failed
  for (let made = 0; made < retries; made++) {
    const askedMs = retryDelayOf(response)
    if (askedMs === undefined) return response
    const waitMs = askedMs + backoffMs(made, { first: Math.max(askedMs, leastPauseMs) })
    if (clock.now() - started + waitMs > withinMs) return response
    await pauseCall(waitMs, clock, signal)
    response = await send()
  }
  return response
}

const leastPauseMs = 50

/** The reasons for which a server has not started a call. */
const reasons: ReadonlySet<unknown> = new Set(['overloaded', 'stopping'])

/**
 * Returns the milliseconds after which a server that has not started a call may be asked again; undefined for every
 * other answer.
 */
function retryDelayOf(response: RpcResponse): number | undefined {
  if (!('error' in response) || response.error.code !== errorCodes.internal) return undefined
  const { data } = response.error
  if (!isJsonObject(data) || !reasons.has(data['reason'])) return undefined
  const { retryAfterMs } = data
  return typeof retryAfterMs === 'number' && retryAfterMs >= 0 ? retryAfterMs : undefined
}
