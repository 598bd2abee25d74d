import { type Clock, errorCodes, isJsonObject, type RpcResponse } from '@x/schema'
import { pause, pauseOf } from '../rounds/pause.ts'

/** How a call is sent again that its server did not begin. */
export interface BeginRules {
  /** How often at most. */
  readonly retries: number
  /** From the first refusal, in milliseconds; a wait that would end later is not begun. */
  readonly withinMs: number
  readonly clock: Clock
  readonly signal: AbortSignal | undefined
}

/**
 * Sends a call again for as long as the server says that it has not begun it, because it is overloaded or stops: what was not begun can be done
 * again without being done twice. Each wait is as long as the server asks, and a little more, so that not all callers come back at one moment.
 * Gives the first answer that is something else, or the last refusal. Rejects with the signal's reason.
 */
export async function beginAgain(
  refused: RpcResponse,
  send: () => Promise<RpcResponse>,
  { retries, withinMs, clock, signal }: BeginRules,
): Promise<RpcResponse> {
  const started = clock.now()
  let response = refused
  for (let made = 0; made < retries; made++) {
    const askedMs = notBegunFor(response)
    if (askedMs === undefined) return response
    const waitMs = askedMs + pauseOf(made, { first: Math.max(askedMs, leastPauseMs) })
    if (clock.now() - started + waitMs > withinMs) return response
    await pause(waitMs, clock, signal)
    response = await send()
  }
  return response
}

const leastPauseMs = 50

/** Why a server may say that it has not begun a call. */
const reasons: ReadonlySet<unknown> = new Set(['overloaded', 'stopping'])

/** How long a server that has not begun a call asks to be left alone, in milliseconds; undefined for every other answer. */
function notBegunFor(response: RpcResponse): number | undefined {
  if (!('error' in response) || response.error.code !== errorCodes.internal) return undefined
  const { data } = response.error
  if (!isJsonObject(data) || !reasons.has(data['reason'])) return undefined
  const { retryAfterMs } = data
  return typeof retryAfterMs === 'number' && retryAfterMs >= 0 ? retryAfterMs : undefined
}
