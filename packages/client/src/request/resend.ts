import { computeBackoffMs, type Clock, sleep } from '@x/core'
import { errorCodes, isJsonObject, type RpcResponse } from '@x/schema'
import { isClientError } from './client-error.ts'

/** The bounds for sending a call again that its server did not start. */
export interface ResendLimits {
  /** The number of times. */
  readonly retries: number
  /** Milliseconds from the first rejection. A wait that would end later is not started. */
  readonly maxElapsedMs: number
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
  { retries, maxElapsedMs, clock, signal }: ResendLimits,
): Promise<RpcResponse> {
  const startedAt = clock.monotonicNow()
  let response = failedResponse
  for (let retryCount = 0; retryCount < retries; retryCount++) {
    const requestedDelayMs = retryDelayMsOf(response)
    if (requestedDelayMs === undefined) return response
    const waitMs =
      requestedDelayMs +
      computeBackoffMs(retryCount, { firstMs: Math.max(requestedDelayMs, minDelayMs), maxMs: maxDelayMs })
    if (clock.monotonicNow() - startedAt + waitMs > maxElapsedMs) return response
    await sleep(waitMs, { clock, signal })
    response = await send()
  }
  return response
}

const minDelayMs = 50
const maxDelayMs = 5000

/** The reasons for which a server has not started a call. */
const retryableReasons: ReadonlySet<unknown> = new Set(['overloaded', 'stopping'])

/**
 * Returns the milliseconds after which a server that has answered with one of these reasons may be asked again, or
 * undefined for every other answer.
 */
function retryDelayMsOf(response: RpcResponse, reasons = retryableReasons): number | undefined {
  if (!('error' in response) || response.error.code !== errorCodes.internal) return undefined
  const { data } = response.error
  if (!isJsonObject(data) || !reasons.has(data['reason'])) return undefined
  const { retryAfterMs } = data
  return typeof retryAfterMs === 'number' && retryAfterMs >= 0 ? retryAfterMs : undefined
}

/** Options for sending a request again whose answer was lost. */
export interface ResendOptions {
  /** True when nothing is done twice although the server has had the request. */
  readonly isRepeatable: () => boolean
  /** The highest number of times. */
  readonly retries: number
  readonly clock: Clock
  readonly signal: AbortSignal | undefined
}

/** The reason of an answer that leaves the outcome of a call open: the server could not store it. */
const unknownOutcomeReasons: ReadonlySet<unknown> = new Set(['unavailable'])

/**
 * Sends a request again when its connection ended before the answer, or when the server could not store what was done,
 * for as long as that is safe. Returns the first other answer, or the last one of the server. Rejects with the last
 * failure, or with the signal's reason.
 */
export async function resendLostRequest(
  send: () => Promise<RpcResponse>,
  { isRepeatable, retries, clock, signal }: ResendOptions,
): Promise<RpcResponse> {
  for (let retryCount = 0; ; retryCount++) {
    const mayRetry = (): boolean => retryCount < retries && isRepeatable()
    let delayMs = 0
    try {
      const response = await send()
      const requestedDelayMs = retryDelayMsOf(response, unknownOutcomeReasons)
      if (requestedDelayMs === undefined || !mayRetry()) return response
      // A server may ask for a longer pause, and does not get it.
      delayMs = Math.min(requestedDelayMs, maxDelayMs)
    } catch (error) {
      if (!isConnectionLost(error) || !mayRetry()) throw error
    }
    await sleep(delayMs + computeBackoffMs(retryCount, backoff), { clock, signal })
  }
}

const backoff = { firstMs: 100, maxMs: 2000 }

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
