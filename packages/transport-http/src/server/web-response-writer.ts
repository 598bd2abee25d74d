import { isWorkerd } from '@x/core'
import type { Platform } from '@x/exchange'
import type { HttpAnswer, ResponseWriter } from './http-adapter.ts'

// With a mark of 0, the desired size is the negative number of waiting bytes.
const queuingStrategy = new ByteLengthQueuingStrategy({ highWaterMark: 0 })

const encoder = new TextEncoder()

// Each request must run in its own callback, because workerd stops a request that runs code of another. On workerd, a
// connection that is reset before the signal is read ends the request without an event.
const runAfterTick: (run: () => void) => unknown =
  isWorkerd() || globalThis.setImmediate === undefined ? (run: () => void) => run() : globalThis.setImmediate

export class WebTarget {
  readonly request: Request
  readonly platform: Platform | undefined
  /** Resolves the promise of the response that the platform awaits. */
  readonly resolve: (response: Response) => void
  stream: ReadableStreamDefaultController<Uint8Array> | undefined
  isClosed = false
  onClose = ignoreClose
  /** Listens for the abort of the request. Undefined if nothing does. */
  onAbort: (() => void) | undefined
  /** Called when the client has read all output. */
  readonly drainListeners: (() => void)[] = []

  constructor(request: Request, platform: Platform | undefined, resolve: (response: Response) => void) {
    this.request = request
    this.platform = platform
    this.resolve = resolve
  }
}

function ignoreClose(): void {}

export const webResponseWriter: ResponseWriter<WebTarget> = {
  send(target, answer) {
    if (target.isClosed) return
    target.resolve(createWebResponse(answer))
    closeTarget(target)
  },
  open(target, headers) {
    const start = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      target.stream = controller
    }
    // Because of this mark, the stream calls `pull` only after the client has read everything.
    const streamSource = { start, pull: () => releaseWaitingWriters(target), cancel: () => closeTarget(target) }
    target.resolve(
      new Response(new ReadableStream(streamSource, queuingStrategy), { headers: toHeaderFields(headers) }),
    )
    watchAbort(target)
  },
  write({ isClosed, stream }, text) {
    if (!isClosed) stream?.enqueue(encoder.encode(text))
  },
  end(target, text) {
    if (target.isClosed) return
    target.stream?.enqueue(encoder.encode(text))
    target.stream?.close()
    closeTarget(target)
  },
  countQueuedBytes: ({ stream }) => -(stream?.desiredSize ?? 0),
  waitForDrain({ isClosed, stream, drainListeners }) {
    if (isClosed || (stream?.desiredSize ?? 0) === 0) return undefined
    return new Promise((resolve) => void drainListeners.push(resolve))
  },
  destroy(target) {
    if (target.isClosed) return
    target.stream?.error(new DOMException('The stream was broken off', 'AbortError'))
    closeTarget(target)
  },
  onClose(target, run) {
    target.onClose = run
    runAfterTick(() => watchAbort(target))
  },
}

// Most complete responses are sent within the tick in which the request arrived, and need no signal. On Node, adapters
// create it when it is read.
function watchAbort(target: WebTarget): void {
  const { request, isClosed } = target
  if (isClosed || target.onAbort !== undefined) return
  if (request.signal.aborted) return endTarget(target)
  target.onAbort = () => endTarget(target)
  request.signal.addEventListener('abort', target.onAbort)
}

function endTarget(target: WebTarget): void {
  const { stream, isClosed, resolve } = target
  // The client has disconnected, but the platform still waits for a response or for the end of the stream.
  if (stream === undefined) resolve(new Response(null, { status: clientClosedRequestStatus }))
  else if (!isClosed) stream.close()
  closeTarget(target)
}

function closeTarget(target: WebTarget): void {
  if (target.isClosed) return
  target.isClosed = true
  releaseWaitingWriters(target)
  if (target.onAbort !== undefined) target.request.signal.removeEventListener('abort', target.onAbort)
  target.onClose()
}

function releaseWaitingWriters({ drainListeners }: WebTarget): void {
  for (const resolve of drainListeners.splice(0)) resolve()
}

// nginx uses this status for a client that has closed its connection. No RFC defines one.
const clientClosedRequestStatus = 499

export function createWebResponse(answer: HttpAnswer): Response {
  const { status, headers, body } = answer
  const contentType = body !== undefined && { 'Content-Type': 'application/json' }
  return new Response(webBodyOf(answer), { status, headers: { ...contentType, ...toHeaderFields(headers) } })
}

function webBodyOf({ body }: HttpAnswer): string | Blob | null {
  if (body === undefined || typeof body === 'string') return body ?? null
  // The server owns these bytes, and the Blob only reads them.
  return new Blob([body.head, body.result as Uint8Array<ArrayBuffer>, body.tail])
}

// A plain object, so that platforms need not create a `Headers` object. Values of a repeated header are joined to one
// list (RFC 9110, section 5.3).
function toHeaderFields(flatHeaders: readonly string[]): Record<string, string> {
  const fields: Record<string, string> = {}
  for (let index = 0; index < flatHeaders.length; index += 2) {
    const [name = '', value = ''] = flatHeaders.slice(index, index + 2)
    fields[name] = name in fields ? `${fields[name]}, ${value}` : value
  }
  return fields
}
