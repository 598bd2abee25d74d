import { isLimitError, isUnavailable } from '@x/core'
import { isJsonObject, type RequestId, type RpcResponse } from '@x/schema'
import { toLegacyErrorResponse } from '../session/to-error-response.ts'
import type { CallDeps } from './call-deps.ts'

/**
 * Milliseconds for which a later round is sent again while the server cannot serve it. The client waits on its stream,
 * and an older one cannot send the round again by itself.
 */
const holdMs = 20_000

/**
 * Sends a round after the first one to the exchange, again and again while the server has not begun it because a store
 * is unreachable or the server is overloaded. Resolves with an error that says that the call has begun.
 */
export async function sendLaterRound(
  send: () => Promise<RpcResponse>,
  { signal }: { readonly signal: AbortSignal },
  { now, sleep }: Pick<CallDeps, 'now' | 'sleep'>,
): Promise<RpcResponse> {
  const endsAt = now() + holdMs
  for (;;) {
    const response = await send()
    const pauseMs = readPauseMs(response)
    if (pauseMs === undefined || now() + pauseMs > endsAt) return withBegun(response)
    await sleep(pauseMs, signal)
  }
}

/**
 * Answers an error between two rounds by saying that the call has begun: a client that sent the call again would have
 * its effects twice. Undefined for an error that is a fault of this package.
 */
export function toBegunResponse(
  id: RequestId,
  error: unknown,
  deps: Pick<CallDeps, 'ledger'>,
): RpcResponse | undefined {
  return isLimitError(error) || isUnavailable(error) ? withBegun(toLegacyErrorResponse(id, error, deps)) : undefined
}

function readPauseMs(response: RpcResponse): number | undefined {
  const data = 'error' in response ? response.error.data : undefined
  if (!isJsonObject(data) || typeof data['retryAfterMs'] !== 'number') return undefined
  const { reason, begun, retryAfterMs } = data
  return begun === false || (reason === 'overloaded' && begun !== true) ? retryAfterMs : undefined
}

/** Only an error that says why, or whether the call has begun, gets the mark. A gateway's says no reason. */
function withBegun(response: RpcResponse): RpcResponse {
  if (!('error' in response) || !isJsonObject(response.error.data)) return response
  const { error } = response
  const { data } = error
  return isJsonObject(data) && (data['reason'] !== undefined || data['begun'] !== undefined)
    ? { ...response, error: { ...error, data: { ...data, begun: true } } }
    : response
}
