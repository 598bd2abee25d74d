import { connect, type Socket } from 'node:net'
import {
  answerTo,
  callParams,
  endOfFlow,
  flowBody,
  type FlowResult,
  nextOf,
  postsOfFlow,
  type Retry,
  userHeader,
} from './flow-calls.ts'
import { answerOf, type LoadAnswer, type LoadQuestion, messageIn, serveLoad } from './load.ts'
import { answerQuestions, type Programs } from './processes.ts'

/**
 * The loads of calls that ask, over bare sockets: in 2026-07-28 the state of a response goes into the next request; in
 * 2025-11-25 each user has a session, and answers on another connection while the response of the call is open. An HTTP
 * client that does this uses more CPU than the measured server.
 */
export const programs: Programs = {
  current: () =>
    serveLoad(async (connection, observations) => {
      let retry: Retry = {}
      for (let posts = 1; posts <= postsOfFlow; posts++) {
        const sent = performance.now()
        const { status, body } = await connection.post(flowBody(retry))
        observations.times.push(performance.now() - sent)
        const { result = {} }: { result?: FlowResult } = status === 200 ? JSON.parse(messageIn(body)) : {}
        if (result.resultType === 'input_required' && posts < postsOfFlow) retry = nextOf(result)
        else if (posts < postsOfFlow || result.content?.[0]?.text !== endOfFlow) {
          observations.failures += 1
          return
        }
      }
    }),
  older: () => answerQuestions(loadSessions),
}

async function loadSessions({ url, connections, seconds }: LoadQuestion): Promise<LoadAnswer> {
  const observations = { times: [] as number[], failures: 0 }
  const started = performance.now()
  const runUser = async (): Promise<void> => {
    const session = await openSession(url)
    while (performance.now() < started + seconds * 1000) {
      const before = performance.now()
      const isRight = await session.callTool()
      if (isRight) observations.times.push(...Array<number>(3).fill((performance.now() - before) / 3))
      else observations.failures += 1
    }
    session.close()
  }
  await Promise.all(Array.from({ length: connections }, runUser))
  return answerOf(observations, performance.now() - started)
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

async function openSession(url: string): Promise<Session> {
  const [calls, answers] = [openConnection(url), openConnection(url)]
  const opened = await calls.post({ id: 0, method: 'initialize', params: initializeParams })
  const sessionId = /^mcp-session-id: (.*)\r$/im.exec(opened)?.[1] ?? ''
  const session = `mcp-session-id: ${sessionId}\r\nmcp-protocol-version: 2025-11-25\r\n`
  await calls.post({ method: 'notifications/initialized' }, session)
  let id = 0
  const onEvent = (data: string): void => {
    if (!data.includes('elicitation/create')) return
    const { id: question, params }: { id: number; params: { message: string } } = JSON.parse(data)
    void answers.post({ id: question, result: { action: 'accept', content: answerTo(params.message) } }, session)
  }
  return {
    async callTool() {
      id += 1
      return (await calls.post({ id, method: 'tools/call', params: callParams }, session, onEvent)).includes(endOfFlow)
    },
    close() {
      calls.close()
      answers.close()
    },
  }
}

interface EventConnection {
  /** Sends a message, and returns the text of its response with its headers. */
  post(message: object, headers?: string, onEvent?: (data: string) => void): Promise<string>
  close(): void
}

/** Opens a connection that sends one request after the other, and reads the events of an open response. */
function openConnection(url: string): EventConnection {
  const { hostname, port, host, pathname } = new URL(url)
  const accept = 'accept: application/json, text/event-stream\r\n'
  const head = `POST ${pathname} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\n${accept}${userHeader}: ada\r\n`
  let onData: (text: string) => void = () => {}
  let onClose = (): void => {}
  const open = (): Socket => {
    const opened = connect({ host: hostname, port: Number(port), noDelay: true })
    opened.setEncoding('utf8').on('data', (text: string) => onData(text))
    return opened.on('close', () => onClose())
  }
  let socket = open()
  return {
    post(message, headers = '', onEvent = () => {}) {
      const body = JSON.stringify({ jsonrpc: '2.0', ...message })
      // Node closes a connection that was idle for five seconds, as the one for answers is on a busy machine.
      if (socket.destroyed) socket = open()
      return new Promise((resolve) => {
        let text = ''
        let seen = 0
        onData = (more) => {
          text += more
          for (let end = text.indexOf('\n\n', seen); end >= 0; end = text.indexOf('\n\n', seen)) {
            const event = text.slice(seen, end)
            seen = end + 2
            onEvent(event.slice(event.indexOf('data: ') + 6))
          }
          if (isComplete(text)) resolve(text)
        }
        // An incomplete response counts as a failure.
        onClose = () => resolve(text)
        socket.write(`${head}${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
      })
    },
    close: () => void socket.destroy(),
  }
}

function isComplete(text: string): boolean {
  const headEnd = text.indexOf('\r\n\r\n')
  if (headEnd < 0) return false
  const length = /^content-length: (\d+)\r$/im.exec(text.slice(0, headEnd + 1))?.[1]
  if (length !== undefined) return Buffer.byteLength(text.slice(headEnd + 4)) >= Number(length)
  const isEmpty = /^HTTP\/1\.1 20[24] /.test(text) && !/^transfer-encoding/im.test(text.slice(0, headEnd))
  return isEmpty || text.endsWith('0\r\n\r\n')
}
