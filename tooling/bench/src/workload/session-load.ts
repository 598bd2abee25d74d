import { metaKeys, protocolVersion } from '@x/schema'
import { Client } from 'undici'
import { messageIn } from '../http/read-response.ts'
import { findWrongAnswer, toolCalls } from './tool-calls.ts'

/** A question of the benchmark to the load. */
export interface SessionLoadQuestion {
  readonly url: string
  /** With `sessions` a call has the requests of the public benchmark, with `requests` it is one request of 2026-07-28. */
  readonly form: 'sessions' | 'requests'
  readonly seconds: number
}

/** The answer of the load. */
export interface SessionLoadAnswer {
  /** The number of calls with a right response. */
  readonly calls: number
  /** The number of requests of these calls. */
  readonly requests: number
  /** The first wrong response. */
  readonly failure?: string | undefined
}

interface Reply {
  readonly status: number
  readonly session: string | undefined
  readonly body: string
}

/** The response to a call, with the number of requests that the call took. */
interface CallReply extends Reply {
  readonly requests: number
}

const users = 50
const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const clientInfo = { name: 'bench-client', version: '1.0.0' }

process.once('disconnect', () => process.exit())
process.on('message', (question: SessionLoadQuestion) => {
  void runLoad(question).then((answer) => process.send?.(answer))
})

async function runLoad({ url, form, seconds }: SessionLoadQuestion): Promise<SessionLoadAnswer> {
  const end = performance.now() + seconds * 1000
  const send = form === 'sessions' ? callInSession : callAlone
  let calls = 0
  let requests = 0
  let failure: string | undefined
  const actAsUser = async (_: unknown, index: number): Promise<void> => {
    const client = new Client(new URL(url).origin)
    const user = `user-${String(index + 1).padStart(5, '0')}`
    for (let turn = index; performance.now() < end && failure === undefined; turn += 1) {
      const call = toolCalls[turn % toolCalls.length]?.(user)
      if (call === undefined) break
      const { status, body, requests: sent } = await send(client, call)
      failure ??= findWrongAnswer(call.name, status, messageIn(body))
      calls += 1
      requests += sent
    }
    await client.close()
  }
  await Promise.all(Array.from({ length: users }, actAsUser))
  return { calls, requests, failure }
}

type ToolParams = Readonly<Record<string, unknown>>

async function callInSession(client: Client, params: ToolParams): Promise<CallReply> {
  const initialize = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
  const { session } = await post(client, { id: 1, method: 'initialize', params: initialize })
  const inSession = session === undefined ? {} : { 'mcp-session-id': session }
  await post(client, { method: 'notifications/initialized' }, inSession)
  const reply = await post(client, { id: 2, method: 'tools/call', params }, inSession)
  if (session === undefined) return { ...reply, requests: 3 }
  await exchange(client, { method: 'DELETE', headers: inSession })
  return { ...reply, requests: 4 }
}

const _meta = {
  [metaKeys.protocolVersion]: protocolVersion,
  [metaKeys.clientInfo]: clientInfo,
  [metaKeys.clientCapabilities]: {},
}

async function callAlone(client: Client, params: ToolParams): Promise<CallReply> {
  const name = {
    'mcp-protocol-version': protocolVersion,
    'mcp-method': 'tools/call',
    'mcp-name': String(params['name']),
  }
  const reply = await post(client, { id: 1, method: 'tools/call', params: { ...params, _meta } }, name)
  return { ...reply, requests: 1 }
}

function post(client: Client, message: object, own: Readonly<Record<string, string>> = {}): Promise<Reply> {
  const body = JSON.stringify({ jsonrpc: '2.0', ...message })
  return exchange(client, { method: 'POST', headers: { ...headers, ...own }, body })
}

interface Exchange {
  readonly method: 'POST' | 'DELETE'
  readonly headers: Record<string, string>
  readonly body?: string
}

async function exchange(client: Client, request: Exchange): Promise<Reply> {
  const response = await client.request({ path: '/mcp', ...request })
  const session = response.headers['mcp-session-id']
  const body = await response.body.text()
  return { status: response.statusCode, session: typeof session === 'string' ? session : undefined, body }
}
