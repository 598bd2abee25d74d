import {
  type Call,
  type CallContext,
  cancel as cancelCall,
  cancelledBy,
  type Clock,
  createCall,
  createCancellation,
  emptyContext,
  type Exchange,
  type HeaderParams,
  headerParamsKey,
  methodRow,
  offAbort,
  onAbort,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
  withContext,
  withHeader,
} from '@x/schema'
import { type CallErrorContext, ClientError } from './client-error.ts'
import { dispatchNotification } from './notifications.ts'
import type { CallOptions } from './call-options.ts'

/** One request that is being sent. */
export interface RunningCall {
  readonly request: RpcRequest
  readonly headerParams: HeaderParams | undefined
  /** The encoded value of `Mcp-Name`, for an extension's method. */
  readonly repeated: string | undefined
  readonly options: CallOptions
  /** Takes the messages of a response that lasts; returns true once it is open, from when on no time limit applies. */
  readonly onMessage?: ((message: RpcNotification) => boolean) | undefined
  readonly timeoutMs: number
  readonly maxTotalMs: number
  readonly clock: Clock
  readonly errorContext: () => CallErrorContext
}

/**
 * Sends a request once and waits for its response, the caller's signal or the time limit, whichever is first. Later
 * messages are ignored. One timer checks the limits when it fires, so that progress costs nothing.
 */
export function runCall(exchange: Exchange, running: RunningCall): Promise<RpcResponse> {
  const { request, options, timeoutMs, maxTotalMs, clock } = running
  return new Promise((resolve, reject) => {
    if (options.signal?.aborted) return reject(options.signal.reason)
    const cancellation = createCancellation()
    const started = clock.now()
    let last = started
    let isOver = false
    let timer: unknown

    const end = (): void => {
      isOver = true
      clock.clearTimeout(timer)
      if (options.signal) offAbort(options.signal, cancel)
    }
    const stop = (reason: unknown): void => {
      if (isOver) return
      end()
      reject(reason)
      // The peer stops working: over HTTP the stream closes, over stdio a notification says so.
      cancelCall(cancellation, reason)
    }
    const cancel = (): void => stop(options.signal?.reason)
    const arm = (): void => {
      const now = clock.now()
      const wait = Math.min(last + timeoutMs, started + maxTotalMs) - now
      if (wait <= 0) stop(callTimeoutError(running, now - started))
      else timer = clock.setTimeout(arm, Math.min(wait, maxTimer))
    }
    const notify = (message: RpcNotification): void => {
      if (isOver) return
      try {
        if (running.onMessage?.(message)) clock.clearTimeout(timer)
        else if (dispatchNotification(message, request, options)) last = clock.now()
      } catch (error) {
        stop(error)
      }
    }
    const failed = (cause: unknown): void => {
      if (isOver) return
      end()
      const why = cause instanceof Error ? cause.message : String(cause)
      const code = isUnsupportedVersion(cause) ? 'unsupported_version' : 'transport'
      reject(new ClientError(code, why, { ...running.errorContext(), cause }))
    }
    if (options.signal) onAbort(options.signal, cancel)
    arm()
    const call: Call = cancelledBy({ context: createCallContext(running), notify }, cancellation)
    const answered = (response: RpcResponse): void => {
      if (isOver) return
      end()
      resolve(response)
    }
    try {
      exchange(request, call).then(answered, failed)
    } catch (error) {
      failed(error)
    }
  })
}

function createCallContext({ headerParams, repeated }: RunningCall): CallContext {
  if (headerParams === undefined && repeated === undefined) return emptyContext
  let call = createCall()
  if (headerParams !== undefined) call = withContext(call, headerParamsKey, headerParams)
  if (repeated !== undefined) call = withHeader(call, 'Mcp-Name', repeated)
  return call.context
}

/** Transports find out that a server speaks earlier revisions alone. */
function isUnsupportedVersion(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === 'unsupported_version'
}

// The platforms' timers hold 31 bits.
const maxTimer = 2_147_483_647

function callTimeoutError({ request, errorContext, timeoutMs, maxTotalMs }: RunningCall, waited: number): ClientError {
  if (methodRow(request.method)?.streams) {
    const why = `no acknowledgement within ${maxTotalMs} ms; allow more with openTimeoutMs`
    return new ClientError('timeout', why, errorContext())
  }
  const why =
    waited >= maxTotalMs
      ? `no response within ${maxTotalMs} ms; allow more with maxTotalMs`
      : `neither response nor progress for ${timeoutMs} ms; allow more with timeoutMs`
  return new ClientError('timeout', why, errorContext())
}
