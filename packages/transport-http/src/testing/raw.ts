import { connect } from 'node:net'
import type { Socket } from 'node:net'

/** A connection over which a test sends bytes that no HTTP client would. */
export interface RawConnection {
  readonly socket: Socket
  send(bytes: string | Uint8Array): void
  /** Everything that came so far, once it holds this text; all of it, when the peer closes first. */
  readUntil(text: string): Promise<string>
  /** Everything that came until the peer closed. */
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
  // A reset is one of the ways to be closed.
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

/** The head of a POST that is right, with these headers besides. */
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

/** The text of a request that is right. */
export function bodyOf(method: string, id: number, more = ''): string {
  const meta = '"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}'
  return `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":{${more}"_meta":{${meta}}}}`
}

/** A whole request that is right. */
export function requestOf(method: string, id: number): string {
  const body = bodyOf(method, id)
  return headOf(method, [`Content-Length: ${Buffer.byteLength(body)}`]) + body
}
