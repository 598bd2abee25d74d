import type { Faults, MessageFault } from '../faults/faults.ts'
import type { Host, VirtualTime } from '../platform/virtual-time.ts'

/** The transfer of a response from an instance to the client. */
export interface ClientStream {
  /** Called when the client stops reading. */
  onCancel: () => void
  /** Sends the head of the response, and then its body chunk by chunk. */
  send(response: Response, onHead: (response: Response) => void): void
  /** Ends the body at the client with an error. */
  fail(error: Error): void
}

interface StreamOptions {
  readonly time: VirtualTime
  readonly faults: Faults
  readonly client: Host
  readonly fault: MessageFault
  /** Called when the body was cut. */
  readonly onCut: () => void
  /** Called when the client has received the whole response. */
  readonly onEnd: () => void
}

/** The maximum number of bytes of a body before it is cut. */
const maxBytesBeforeCut = 1200

/** Creates the stream of one response. Its parts arrive in order, each after a delay. */
export function createClientStream({ time, faults, client, fault, onCut, onEnd }: StreamOptions): ClientStream {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  let lastArrival = 0
  let isEnded = false
  let bytesLeft = fault === 'cut' ? Math.floor(faults.random() * maxBytesBeforeCut) : Number.POSITIVE_INFINITY

  const arrive = (run: () => void): void => {
    lastArrival = Math.max(lastArrival, time.now() + faults.delayMs())
    time.schedule(client, lastArrival - time.now(), () => void (isEnded || run()))
  }
  const end = (finish: () => void): void => {
    isEnded = true
    onEnd()
    finish()
  }
  const body = new ReadableStream<Uint8Array>({
    start: (given) => {
      controller = given
    },
    cancel: () => {
      if (!isEnded) end(stream.onCancel)
    },
  })
  const forward = async (response: Response): Promise<void> => {
    const reader = response.body?.getReader()
    for (let chunk = await reader?.read(); chunk !== undefined && !chunk.done; chunk = await reader?.read()) {
      const bytes = chunk.value.subarray(0, bytesLeft)
      bytesLeft -= chunk.value.length
      if (bytes.length > 0) arrive(() => controller?.enqueue(bytes))
      if (bytesLeft < 0) {
        onCut()
        throw new Error('cut')
      }
    }
    arrive(() => end(() => controller?.close()))
  }
  const stream: ClientStream = {
    onCancel: () => {},
    send: (response, onHead) => {
      const { status, headers } = response
      const hasBody = response.body !== null && status !== 204 && status !== 304
      arrive(() => onHead(new Response(hasBody ? body : null, { status, headers })))
      if (!hasBody) arrive(() => end(() => {}))
      else forward(response).catch(() => arrive(() => stream.fail(new TypeError('terminated'))))
    },
    fail: (error) => {
      if (!isEnded) end(() => controller?.error(error))
    },
  }
  return stream
}
