import { connect } from 'node:net'

/** Sends raw bytes and returns the response, up to its end or the end of the connection. */
export function sendBytes(port: number, bytes: readonly (string | Uint8Array)[]): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    let received = ''
    const end = (): void => {
      socket.destroy()
      resolve(received)
    }
    socket.setEncoding('utf8').on('data', (text: string) => {
      received += text
      if (isComplete(received)) end()
    })
    // A reset is a valid rejection.
    socket.on('error', () => {})
    socket.on('close', end)
    for (const part of bytes) socket.write(part)
  })
}

function isComplete(answer: string): boolean {
  const end = answer.indexOf('\r\n\r\n')
  if (end < 0) return false
  const length = /\r\ncontent-length: (\d+)/i.exec(answer.slice(0, end))?.[1]
  return length !== undefined && Buffer.byteLength(answer.slice(end + 4)) >= Number(length)
}

/** Creates the head of a valid POST with additional or replaced header lines. */
export function headWith(lines: readonly string[]): string {
  const valid = [
    'Host: 127.0.0.1',
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    'MCP-Protocol-Version: 2026-07-28',
    'Mcp-Method: tools/list',
  ]
  const nameOf = (line: string): string => (line.split(':', 1)[0] ?? '').toLowerCase()
  const replaced = new Set(lines.map(nameOf))
  const defaults = valid.filter((line) => !replaced.has(nameOf(line)))
  return `${['POST /mcp HTTP/1.1', ...defaults, ...lines].join('\r\n')}\r\n\r\n`
}

/** Sends bytes, waits for an event, and destroys the socket. */
export async function sendAndDisconnect(port: number, parts: readonly string[], event: Promise<void>): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1' })
  socket.on('error', () => {})
  await new Promise<void>((resolve) => socket.write(parts.join(''), () => resolve()))
  await event
  socket.destroy()
}
