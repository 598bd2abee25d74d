import {
  type Clock,
  codeOf,
  maxTimerMs,
  Cancellation,
  messageOf,
  onCancel,
  offCancel,
  startTimeLimit,
  withSignalOf,
} from '@x/core'
import {
  type Call,
  type CallContext,
  createCall,
  type Exchange,
  headerParamsKey,
  withContext,
  withHeader,
} from '@x/exchange'
import { type HeaderParams, findMethodRow, type RpcNotification, type RpcRequest, type RpcResponse } from '@x/schema'
import { type CallErrorContext, ClientError } from './client-error.ts'
import { dispatchNotification } from './notifications.ts'
import type { CallOptions } from './call-options.ts'

export interface RunningCall {
  readonly request: RpcRequest
  readonly headerParams: HeaderParams | undefined
  /** For a method of an extension, encoded. */
  readonly mcpName: string | undefined
  readonly context: CallContext
  readonly options: CallOptions
  /**
   * Receives a streaming response's notifications. Once it returns true, the stream counts as open and the request has
   * no time limit.
   */
  readonly onMessage?: ((message: RpcNotification) => boolean) | undefined
  readonly timeoutMs: number
  readonly maxTotalMs: number
  readonly clock: Clock
  readonly getErrorContext: () => CallErrorContext
  /** The open login of a user that the requests wait for. */
  readonly getPendingLogin: () => Error | undefined
}

/**
 * Sends a request once. The response, the caller's abort or the time limit settles it, whichever comes first, and later
 * messages are ignored. Progress does not restart the timer, of which a request has one: it checks the limits when it
 * fires.
 */
export function runRequest(exchange: Exchange, runningCall: RunningCall): Promise<RpcResponse> {
  const { request, options, timeoutMs, maxTotalMs, clock } = runningCall
  return new Promise((resolve, reject) => {
    if (options.signal?.aborted) return reject(options.signal.reason)
    const cancellation = new Cancellation()
    const startedAt = clock.monotonicNow()
    let lastActivityAt = startedAt
    let hasEnded = false
    let stopTimer = (): void => {}

    const closeCall = (): void => {
      hasEnded = true
      stopTimer()
      if (options.signal) offCancel(options.signal, rejectCall)
    }
    const rejectCall = (reason: unknown): void => {
      if (hasEnded) return
      closeCall()
      reject(reason)
      // Cancels at the server too: over HTTP by closing the stream, over stdio by a notification.
      cancellation.cancel(reason)
    }
    const startTimer = (): void => {
      const now = clock.monotonicNow()
      const remainingMs = Math.min(lastActivityAt + timeoutMs, startedAt + maxTotalMs) - now
      if (remainingMs <= 0) rejectCall(callTimeoutError(runningCall, now - startedAt))
      else stopTimer = startTimeLimit(startTimer, Math.min(remainingMs, maxTimerMs), clock)
    }
    const listeners = { onProgress: options.onProgress, onLog: options.onLog, onFailure: rejectCall }
    const notify = (message: RpcNotification): void => {
      if (hasEnded) return
      try {
        if (runningCall.onMessage?.(message)) stopTimer()
        else if (dispatchNotification(message, request, listeners)) lastActivityAt = clock.monotonicNow()
      } catch (error) {
        rejectCall(error)
      }
    }
    const onFailure = (cause: unknown): void => {
      if (hasEnded) return
      closeCall()
      const code = codeOf(cause) === 'unsupported_version' ? 'unsupported_version' : 'transport'
      reject(new ClientError(code, messageOf(cause), { ...runningCall.getErrorContext(), cause }))
    }
    if (options.signal) onCancel(options.signal, rejectCall)
    startTimer()
    const call: Call = withSignalOf({ context: createCallContext(runningCall), notify }, cancellation)
    const onResponse = (response: RpcResponse): void => {
      if (hasEnded) return
      closeCall()
      resolve(response)
    }
    try {
      exchange(request, call).then(onResponse, onFailure)
    } catch (error) {
      onFailure(error)
    }
  })
}

function createCallContext({ headerParams, mcpName, context }: RunningCall): CallContext {
  if (headerParams === undefined && mcpName === undefined) return context
  let call = createCall({ context })
  if (headerParams !== undefined) call = withContext(call, headerParamsKey, headerParams)
  if (mcpName !== undefined) call = withHeader(call, 'Mcp-Name', mcpName)
  return call.context
}

function callTimeoutError(call: RunningCall, elapsedMs: number): ClientError {
  const context = call.getErrorContext()
  const pendingLogin = call.getPendingLogin()
  const limit = describeTimeLimit(call, elapsedMs)
  if (pendingLogin === undefined) return new ClientError('timeout', `${limit}; allow more with timeoutMs`, context)
  const advice = 'finish the login, and call again'
  const message = `${pendingLogin.message}; ${limit}: ${advice}`
  return new ClientError('timeout', message, { ...context, cause: pendingLogin })
}

function describeTimeLimit({ request, timeoutMs, maxTotalMs }: RunningCall, elapsedMs: number): string {
  if (findMethodRow(request.method)?.isStreaming) return `no acknowledgement within ${maxTotalMs} ms`
  return elapsedMs >= maxTotalMs
    ? `no response within ${maxTotalMs} ms, despite progress`
    : `neither response nor progress for ${timeoutMs} ms`
}
