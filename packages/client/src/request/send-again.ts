import { backoffMs, type Clock, sleep } from '@x/core'
import type { RpcResponse } from '@x/schema'
import { isClientError } from './client-error.ts'

/** Options for sending a request again whose answer was lost. */
export interface ResendRules {
  /** True when nothing is done twice although the server has had the request. */
  readonly isRepeatable: () => boolean
  /** The highest number of times. */
  readonly retries: number
  readonly clock: Clock
  readonly signal: AbortSignal | undefined
}

/**
 * Sends a request again when its connection ended before the answer, for as long as that is safe. Rejects with the last
 * failure, or with the signal's reason.
 */
export async function resendLostRequest(
  send: () => Promise<RpcResponse>,
  { isRepeatable, retries, clock, signal }: ResendRules,
): Promise<RpcResponse> {
  for (let retryCount = 0; ; retryCount++) {
    try {
      return await send()
    } catch (error) {
      if (retryCount >= retries || !isConnectionLost(error) || !isRepeatable()) throw error
      await sleep(backoffMs(retryCount, pauses), { clock, signal })
    }
  }
}

const pauses = { firstMs: 100, maxMs: 2000 }

/** Status codes with which a proxy answers for a server that it has lost, or does not reach. */
const gatewayStatuses: ReadonlySet<unknown> = new Set([502, 503, 504])

/**
 * Returns true when the answer was lost on the way, so that another connection may bring one. Transports name their
 * errors alike.
 */
function isConnectionLost(error: unknown): boolean {
  if (!isClientError(error) || error.code !== 'transport' || !(error.cause instanceof Error)) return false
  const { name } = error.cause
  const code: unknown = Reflect.get(error.cause, 'code')
  if (name === 'StdioError') return code === 'exited'
  if (name !== 'HttpError') return false
  return code === 'closed' || code === 'connect' || gatewayStatuses.has(Reflect.get(error.cause, 'status'))
}
