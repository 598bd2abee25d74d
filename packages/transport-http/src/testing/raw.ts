import { connect, type Socket } from 'node:net'

/** A connection over which a test can send any bytes, including invalid HTTP. */
export interface RawConnection {
  readonly socket: Socket
  send(bytes: string | Uint8Array): void
  /** Resolves with all received text when it contains `text`, or when the peer has closed the connection. */
  readUntil(text: string): Promise<string>
  /** Resolves with all received text when the peer has closed the connection. */
  waitForClose(): Promise<string>
}

/** Connects to a port of this machine. */
export function connectRaw(port: number): RawConnection {
  const socket = connect({ port, host: '127.0.0.1' })
  let received = ''
  socket.setEncoding('utf8')
  socket.on('data', (text: string) => {
    received += text
  })
  // A reset also closes the connection, so its error is ignored.
  socket.on('error', () => {})
  const closed = new Promise<string>((resolve) => socket.on('close', () => resolve(received)))
  const until = (text: string) =>
    new Promise<string>((resolve) => {
      const check = () => {
        if (received.includes(text)) resolve(received)
      }
      socket.on('data', check)
      void closed.then(resolve)
      check()
    })
  return { socket, send: (bytes) => void socket.write(bytes), readUntil: until, waitForClose: () => closed }
}

/** Head of a valid POST request, with additional headers. */
export function headOf(method: string, headers: readonly string[]): string {
  const lines = [
    'POST /mcp HTTP/1.1',
    'Host: localhost',
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    'MCP-Protocol-Version: 2026-07-28',
    `Mcp-Method: ${method}`,
    ...headers,
  ]
  return `${lines.join('\r\n')}\r\n\r\n`
}

export function bodyOf(method: string, id: number, more = ''): string {
  const meta = '"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}'
  return `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":{${more}"_meta":{${meta}}}}`
}

export function requestOf(method: string, id: number): string {
  const body = bodyOf(method, id)
  return headOf(method, [`Content-Length: ${Buffer.byteLength(body)}`]) + body
}
