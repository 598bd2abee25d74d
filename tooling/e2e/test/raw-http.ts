import { connect } from 'node:net'

/** The whole of what a server answers to bytes that no HTTP client sends, until it closes or has answered in full. */
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
      if (isWhole(received)) end()
    })
    // A reset is one of the ways to be refused.
    socket.on('error', () => {})
    socket.on('close', end)
    for (const part of bytes) socket.write(part)
  })
}

function isWhole(answer: string): boolean {
  const end = answer.indexOf('\r\n\r\n')
  if (end < 0) return false
  const length = /\r\ncontent-length: (\d+)/i.exec(answer.slice(0, end))?.[1]
  return length !== undefined && Buffer.byteLength(answer.slice(end + 4)) >= Number(length)
}

/** The head of a POST that is right but for these lines; one that has a name takes the place of the right one. */
export function headWith(lines: readonly string[]): string {
  const right = [
    'Host: 127.0.0.1',
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    'MCP-Protocol-Version: 2026-07-28',
    'Mcp-Method: tools/list',
  ]
  const nameOf = (line: string): string => (line.split(':', 1)[0] ?? '').toLowerCase()
  const given = new Set(lines.map(nameOf))
  const kept = right.filter((line) => !given.has(nameOf(line)))
  return `${['POST /mcp HTTP/1.1', ...kept, ...lines].join('\r\n')}\r\n\r\n`
}

/** Sends all of it, waits for what has to happen, and is gone without a word. */
export async function sendAndLeave(port: number, parts: readonly string[], happened: Promise<void>): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1' })
  socket.on('error', () => {})
  await new Promise<void>((resolve) => socket.write(parts.join(''), () => resolve()))
  await happened
  socket.destroy()
}
