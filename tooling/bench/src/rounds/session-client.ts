import { connect, type Socket } from 'node:net'
import type { LoadAnswer, LoadQuestion } from '../http/load.ts'
import { answerOf, endOfFlow, userHeader } from './flow.ts'

// A load of revision 2025-11-25 on bare sockets: each user has a session, calls the tool, and answers both questions
// on another connection while the response of the call is open.

process.once('disconnect', () => process.exit())
process.on('message', (question: LoadQuestion) => {
  void runLoad(question).then((answer) => process.send?.(answer))
})

async function runLoad({ url, connections, seconds }: LoadQuestion): Promise<LoadAnswer> {
  const times: number[] = []
  let failures = 0
  const started = performance.now()
  const end = started + seconds * 1000
  const runUser = async (): Promise<void> => {
    const session = await openSession(url)
    while (performance.now() < end) {
      const before = performance.now()
      if (await session.callTool()) times.push(...Array<number>(3).fill((performance.now() - before) / 3))
      else failures += 1
    }
    session.close()
  }
  await Promise.all(Array.from({ length: connections }, runUser))
  const sorted = times.toSorted((a, b) => a - b)
  return {
    requests: sorted.length,
    perSecond: (sorted.length * 1000) / (performance.now() - started),
    medianMilliseconds: sorted[sorted.length >> 1] ?? Number.NaN,
    p99Milliseconds: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN,
    failures,
  }
}

interface Session {
  /** Returns true if the call ended with the right result. */
  callTool(): Promise<boolean>
  close(): void
}

const initializeParams = {
  protocolVersion: '2025-11-25',
  capabilities: { elicitation: { form: {} } },
  clientInfo: { name: 'bench-client', version: '1.0.0' },
}
const callParams = { name: 'resolve_bug', arguments: { id: 4522 } }

async function openSession(url: string): Promise<Session> {
  const [calls, answers] = [new Connection(url), new Connection(url)]
  const opened = await calls.post({ id: 0, method: 'initialize', params: initializeParams })
  const sessionId = /^mcp-session-id: (.*)\r$/im.exec(opened)?.[1] ?? ''
  const session = `mcp-session-id: ${sessionId}\r\nmcp-protocol-version: 2025-11-25\r\n`
  await calls.post({ method: 'notifications/initialized' }, session)
  let id = 0
  return {
    async callTool() {
      id += 1
      const onEvent = (data: string): void => {
        if (!data.includes('elicitation/create')) return
        const request: { id: number; params: { message: string } } = JSON.parse(data)
        void answers.post(
          { id: request.id, result: { action: 'accept', content: answerOf(request.params.message) } },
          session,
        )
      }
      return (await calls.post({ id, method: 'tools/call', params: callParams }, session, onEvent)).includes(endOfFlow)
    },
    close() {
      calls.close()
      answers.close()
    },
  }
}

/** A connection that sends one request after the other, and reads the events of an open response. */
class Connection {
  readonly #address: { readonly host: string; readonly port: number }
  readonly #head: string
  #socket: Socket
  #onData: (text: string) => void = () => {}
  #onClose: () => void = () => {}

  constructor(url: string) {
    const { hostname, port, host, pathname } = new URL(url)
    const accept = 'accept: application/json, text/event-stream\r\n'
    this.#head = `POST ${pathname} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\n${accept}${userHeader}: ada\r\n`
    this.#address = { host: hostname, port: Number(port) }
    this.#socket = this.#open()
  }

  #open(): Socket {
    const socket = connect({ ...this.#address, noDelay: true })
    socket.setEncoding('utf8').on('data', (text: string) => this.#onData(text))
    return socket.on('close', () => this.#onClose())
  }

  /** Sends a message, and returns the text of its response with its headers. */
  post(message: object, headers = '', onEvent: (data: string) => void = () => {}): Promise<string> {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message })
    // Node closes a connection that was idle for five seconds, as the one for answers is on a busy machine.
    if (this.#socket.destroyed) this.#socket = this.#open()
    return new Promise((resolve) => {
      let text = ''
      let seen = 0
      this.#onData = (more) => {
        text += more
        for (let end = text.indexOf('\n\n', seen); end >= 0; end = text.indexOf('\n\n', seen)) {
          const event = text.slice(seen, end)
          seen = end + 2
          onEvent(event.slice(event.indexOf('data: ') + 6))
        }
        if (isComplete(text)) resolve(text)
      }
      // An incomplete response counts as a failure.
      this.#onClose = () => resolve(text)
      this.#socket.write(`${this.#head}${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
    })
  }

  close(): void {
    this.#socket.destroy()
  }
}

function isComplete(text: string): boolean {
  const headEnd = text.indexOf('\r\n\r\n')
  if (headEnd < 0) return false
  const length = /^content-length: (\d+)\r$/im.exec(text.slice(0, headEnd + 1))?.[1]
  if (length !== undefined) return Buffer.byteLength(text.slice(headEnd + 4)) >= Number(length)
  return /^HTTP\/1\.1 20[24] /.test(text)
    ? !/^transfer-encoding/im.test(text.slice(0, headEnd)) || text.endsWith('0\r\n\r\n')
    : text.endsWith('0\r\n\r\n')
}
