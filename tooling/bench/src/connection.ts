import { connect, type Socket } from 'node:net'

/** A request on a connection. */
export interface ConnectionRequest {
  readonly body: string
  /** Default: POST. */
  readonly method?: string
  /** The lines of the header besides those of the connection. */
  readonly lines?: string
  /** Receives the data of each event when it arrives, and not only with the response. */
  readonly onEvent?: (data: string) => void
}

/** A complete response, whose head has the status line and the header. */
export interface HttpResponse {
  readonly status: number
  readonly head: string
  readonly body: string
}

/** A connection that sends one request after the other. An HTTP client uses more CPU than the measured server. */
export interface HttpConnection {
  /** Resolves with the complete response. Rejects if the connection closes before. */
  send(request: ConnectionRequest): Promise<HttpResponse>
  close(): void
}

/** Formats lines of a header. */
export function linesOf(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
}

const empty: Buffer = Buffer.alloc(0)

/** Opens a connection for requests that have some headers in common. */
export function openConnection(url: string, headers: Readonly<Record<string, string>>): HttpConnection {
  const { hostname, port, host, pathname } = new URL(url)
  const common = ` ${pathname} HTTP/1.1\r\n${linesOf({ host, ...headers })}`
  let bytes = empty
  let settle: (response: HttpResponse) => void = () => {}
  let fail: (error: Error) => void = () => {}
  let readEvents: ((chunk: Buffer) => void) | undefined
  const open = (): Socket =>
    connect({ host: hostname, port: Number(port), noDelay: true })
      .on('data', (chunk) => {
        bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk])
        readEvents?.(chunk)
        const response = readResponse(bytes)
        if (response === undefined) return
        bytes = empty
        settle(response)
      })
      .on('error', (error) => fail(error))
      .on('close', () => fail(new Error('the server closed a connection')))
  let socket = open()
  return {
    send({ body, method = 'POST', lines = '', onEvent }) {
      // Node closes a connection that was idle for five seconds.
      if (socket.destroyed) socket = open()
      readEvents = onEvent && eventReader(onEvent)
      socket.write(`${method}${common}${lines}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
      return new Promise((resolve, reject) => {
        settle = resolve
        fail = reject
      })
    },
    close() {
      fail = () => {}
      socket.destroy()
    },
  }
}

/** Finds the data of each event, which is one line. */
function eventReader(onEvent: (data: string) => void): (chunk: Buffer) => void {
  let text = ''
  return (chunk) => {
    const events = `${text}${chunk.toString()}`.split('\n\n')
    text = events.pop() ?? ''
    for (const data of events.map((event) => event.split('data: ')[1])) if (data !== undefined) onEvent(data)
  }
}

/** Reads one response of HTTP/1.1, which nothing follows. Returns undefined for an incomplete one. */
function readResponse(bytes: Buffer): HttpResponse | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const head = bytes.toString('latin1', 0, end)
  const content = bytes.subarray(end + 4)
  const length = /^content-length: *(\d+)/im.exec(head)?.[1]
  const isChunked = length === undefined && /^transfer-encoding: *chunked/im.test(head)
  const body = isChunked ? joinChunks(content) : content.length < Number(length ?? 0) ? undefined : content.toString()
  return body === undefined ? undefined : { status: Number(head.slice(9, 12)), head, body }
}

function joinChunks(content: Buffer): string | undefined {
  const chunks: Buffer[] = []
  for (let at = 0; ; ) {
    const endOfSize = content.indexOf('\r\n', at)
    if (endOfSize === -1) return undefined
    const size = Number.parseInt(content.toString('latin1', at, endOfSize), 16)
    const start = endOfSize + 2
    // A line break follows each chunk, also the last one, which is empty.
    at = start + size + 2
    if (content.length < at) return undefined
    if (size === 0) return Buffer.concat(chunks).toString()
    chunks.push(content.subarray(start, start + size))
  }
}
