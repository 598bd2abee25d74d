import {
  type Call,
  cancel as cancelCall,
  cancelledBy,
  type Clock,
  createCancellation,
  type Exchange,
  methodRow,
  type MirroredHeaders,
  offAbort,
  onAbort,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
  withHeader,
} from '@x/schema'
import { type CallPlace, ClientError } from '../client-error.ts'
import { heard } from './notifications.ts'
import type { CallOptions } from '../call-options.ts'

/** One request on its way. */
export interface RunningCall {
  readonly request: RpcRequest
  readonly mirrored: MirroredHeaders | undefined
  /** What `Mcp-Name` repeats of the params of an extension's method, encoded. */
  readonly repeated: string | undefined
  readonly options: CallOptions
  /** Takes what comes on a response that lasts; true once it is open, from when on no limit of time holds. */
  readonly hear?: ((message: RpcNotification) => boolean) | undefined
  readonly timeoutMs: number
  readonly maxTotalMs: number
  readonly clock: Clock
  readonly place: () => CallPlace
}

/**
 * Sends a request once and waits for its response, the caller's signal or the end of its time, whichever is first.
 * What comes later is ignored. One timer looks how far the limits have moved when it fires, so progress costs nothing.
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
      if (wait <= 0) stop(timeoutError(running, now - started))
      else timer = clock.setTimeout(arm, Math.min(wait, maxTimer))
    }
    const notify = (message: RpcNotification): void => {
      if (isOver) return
      try {
        if (running.hear?.(message)) clock.clearTimeout(timer)
        else if (heard(message, request, options)) last = clock.now()
      } catch (error) {
        stop(error)
      }
    }
    const failed = (cause: unknown): void => {
      if (isOver) return
      end()
      const why = cause instanceof Error ? cause.message : String(cause)
      reject(new ClientError('transport', why, { ...running.place(), cause }))
    }
    if (options.signal) onAbort(options.signal, cancel)
    arm()
    const plain: Call = cancelledBy({ mirrored: running.mirrored, notify }, cancellation)
    const call = running.repeated === undefined ? plain : withHeader(plain, 'Mcp-Name', running.repeated)
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

// The platforms' timers hold 31 bits.
const maxTimer = 2_147_483_647

function timeoutError({ request, place, timeoutMs, maxTotalMs }: RunningCall, waited: number): ClientError {
  if (methodRow(request.method)?.streams) {
    const why = `no acknowledgement within ${maxTotalMs} ms; allow more with openTimeoutMs`
    return new ClientError('timeout', why, place())
  }
  const why =
    waited >= maxTotalMs
      ? `no response within ${maxTotalMs} ms; allow more with maxTotalMs`
      : `neither response nor progress for ${timeoutMs} ms; allow more with timeoutMs`
  return new ClientError('timeout', why, place())
}
