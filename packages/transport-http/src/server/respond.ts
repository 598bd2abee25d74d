import { nextTurn } from './next-turn.ts'
import type { Answer, Outlet } from './outlet.ts'

// A mark of 0 makes the desired size minus the bytes that wait.
const strategy = new ByteLengthQueuingStrategy({ highWaterMark: 0 })

/** An outlet that resolves a promise with a web response. */
export function respond(request: Request, resolve: (response: Response) => void): Outlet {
  const encoder = new TextEncoder()
  let stream: ReadableStreamDefaultController<Uint8Array> | undefined
  let [closed, watched] = [false, false]
  let onClose = () => {}
  const drain = createDrain()
  const close = () => {
    if (closed) return
    closed = true
    drain.release()
    if (watched) request.signal.removeEventListener('abort', leave)
    onClose()
  }
  const leave = () => {
    // Nobody reads these; they are there so that whoever waits for the handler, or for the stream, is not left waiting.
    if (stream === undefined) resolve(new Response(null, { status: clientClosedRequest }))
    else if (!closed) stream.close()
    close()
  }
  // Most answers that are no streams are out within the turn, and adapters make a signal when it is first looked at.
  const watch = () => {
    if (closed || watched) return
    if (request.signal.aborted) return leave()
    watched = true
    request.signal.addEventListener('abort', leave)
  }
  return {
    send(answer) {
      if (closed) return
      resolve(new Response(bodyOf(answer), { status: answer.status, headers: headersOf(answer) }))
      close()
    },
    open(headers) {
      const start = (controller: ReadableStreamDefaultController<Uint8Array>) => {
        stream = controller
      }
      // With that mark the stream asks for more only when the reader has taken everything.
      const source = { start, pull: drain.release, cancel: close }
      resolve(new Response(new ReadableStream(source, strategy), { headers: fieldsOf(headers) }))
      watch()
    },
    write(text) {
      if (!closed) stream?.enqueue(encoder.encode(text))
    },
    end(text) {
      if (closed) return
      stream?.enqueue(encoder.encode(text))
      stream?.close()
      close()
    },
    queued: () => -(stream?.desiredSize ?? 0),
    drained: () => (closed || (stream?.desiredSize ?? 0) === 0 ? undefined : drain.wait()),
    destroy() {
      if (closed) return
      stream?.error(new DOMException('The stream was broken off', 'AbortError'))
      close()
    },
    onClose(run) {
      onClose = run
      nextTurn(watch)
    },
  }
}

interface Drain {
  /** Resolves at the next release. */
  wait(): Promise<void>
  release(): void
}

function createDrain(): Drain {
  const waiting: (() => void)[] = []
  return {
    wait: () => new Promise((resolve) => void waiting.push(resolve)),
    release() {
      for (const resolve of waiting.splice(0)) resolve()
    },
  }
}

// nginx's number for it; there is no official one.
const clientClosedRequest = 499

function bodyOf({ body }: Answer): string | Blob | null {
  if (body === undefined || typeof body === 'string') return body ?? null
  // The bytes are kept by who made them, and a Blob only reads them.
  return new Blob([body.head, body.result as Uint8Array<ArrayBuffer>, body.tail])
}

function headersOf({ headers, body }: Answer): Record<string, string> {
  return body === undefined ? fieldsOf(headers) : { 'Content-Type': 'application/json', ...fieldsOf(headers) }
}

// A plain object, which adapters write out without making headers of it; what stands twice is one list (RFC 9110, 5.3).
function fieldsOf(flat: readonly string[]): Record<string, string> {
  const fields: Record<string, string> = {}
  for (let index = 0; index < flat.length; index += 2) {
    const [name = '', value = ''] = flat.slice(index, index + 2)
    fields[name] = name in fields ? `${fields[name]}, ${value}` : value
  }
  return fields
}
