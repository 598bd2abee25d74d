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

/** Opens a connection for requests that have some headers in common. */
export function openConnection(url: string, headers: Readonly<Record<string, string>>): HttpConnection {
  const { hostname, port, host, pathname } = new URL(url)
  const common = ` ${pathname} HTTP/1.1\r\n${linesOf({ host, ...headers })}`
  let read: (bytes: Buffer) => void = () => {}
  let fail: (error: Error) => void = () => {}
  const open = (): Socket =>
    connect({ host: hostname, port: Number(port), noDelay: true })
      .on('data', (bytes) => read(bytes))
      .on('error', (error) => fail(error))
      .on('close', () => fail(new Error('the server closed a connection')))
  let socket = open()
  return {
    send({ body, method = 'POST', lines = '', onEvent }) {
      // Node closes a connection that was idle for five seconds.
      if (socket.destroyed) socket = open()
      socket.write(`${method}${common}${lines}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
      return new Promise((resolve, reject) => {
        const response = readResponse(onEvent)
        response.next()
        read = (bytes) => {
          const { done, value } = response.next(bytes)
          if (done === true) resolve(value)
        }
        fail = reject
      })
    },
    close() {
      fail = () => {}
      socket.destroy()
    },
  }
}

/** Reads one response of HTTP/1.1 from the bytes that each `yield` receives. */
function* readResponse(onEvent: ConnectionRequest['onEvent']): Generator<undefined, HttpResponse, Buffer> {
  let bytes: Buffer = Buffer.alloc(0)
  function* readUntil(end: string): Generator<undefined, string, Buffer> {
    let at = bytes.indexOf(end)
    for (; at === -1; at = bytes.indexOf(end)) bytes = Buffer.concat([bytes, yield])
    const text = bytes.toString('latin1', 0, at)
    bytes = bytes.subarray(at + end.length)
    return text
  }
  function* readBytes(count: number): Generator<undefined, Buffer, Buffer> {
    while (bytes.length < count) bytes = Buffer.concat([bytes, yield])
    const read = bytes.subarray(0, count)
    bytes = bytes.subarray(count)
    return read
  }
  const head = yield* readUntil('\r\n\r\n')
  const status = Number(head.slice(9, 12))
  const length = /^content-length: *(\d+)/im.exec(head)?.[1]
  if (!/^transfer-encoding: *chunked/im.test(head))
    return { status, head, body: (yield* readBytes(Number(length ?? 0))).toString() }
  const pieces: Buffer[] = []
  let text = ''
  for (let size = Number.NaN; size !== 0; ) {
    size = Number.parseInt(yield* readUntil('\r\n'), 16)
    // A line break follows each chunk, also the last one, which is empty.
    const piece = (yield* readBytes(size + 2)).subarray(0, -2)
    pieces.push(piece)
    if (onEvent === undefined) continue
    const events = `${text}${piece.toString()}`.split('\n\n')
    text = events.pop() ?? ''
    for (const data of events.map((event) => event.split('data: ')[1])) if (data !== undefined) onEvent(data)
  }
  return { status, head, body: Buffer.concat(pieces).toString() }
}
