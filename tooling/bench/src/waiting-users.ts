import { WebStandardStreamableHTTPServerTransport as TransportV1 } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { createMcpHandler, WebStandardStreamableHTTPServerTransport as TransportV2 } from '@modelcontextprotocol/server'
import { legacy } from '@x/legacy'
import type { ServerDefinition } from '@x/server'
import { httpHandler } from '@x/transport-http'
import { callParams, firstCall, initializeParams, userHeader } from './flow-calls.ts'
import { connect, createFlow as createFlowV1, transportsOf } from './official-v1.ts'
import { createFlow as createFlowV2 } from './official-v2.ts'
import { flowServer } from './our-servers.ts'
import { answerQuestions, collectGarbage } from './peers/serve-measured.ts'
import { type Programs, startProgram } from './processes.ts'
import { print } from './ratios.ts'

/** The servers, whose tool asks twice. Ours has a limit of sessions in a process. */
const servers = [
  { name: 'these packages', program: 'ours', revision: '2026-07-28' },
  { name: 'official SDK v2', program: 'v2', revision: '2026-07-28' },
  { name: 'these packages, with legacy()', program: 'ours-older', revision: '2025-11-25', maxUsers: 10_000 },
  { name: 'official SDK v2, with sessions', program: 'v2-older', revision: '2025-11-25' },
  { name: 'official SDK v1', program: 'v1', revision: '2025-11-25' },
]

/**
 * Measures the memory of users who wait for an answer, beside the official SDKs: 10,000 and 100,000 of them.
 *
 * Method: a process makes the calls of the users through a fetch handler, one after the other, and keeps what their
 * clients hold: at 2026-07-28 nothing, since the response is complete; at 2025-11-25 a session and an open response, as
 * the documentation of the SDKs serves it. The figure is the growth of heap and external memory after full collections,
 * from 1,000 users on, divided by their number. It has the `Request` and the `Response` in it, and not the socket.
 */
export async function run({ quick }: { readonly quick: boolean }): Promise<void> {
  const counts = quick ? [2000, 10_000] : [10_000, 100_000]
  print(`bytes of a user who waits, with ${counts.join(' and ')} of them, Node ${process.version}`)
  const environment = { NODE_OPTIONS: '--max-old-space-size=8192' }
  for (const { name, program, revision, maxUsers = Infinity } of servers) {
    const cells: string[] = []
    for (const count of counts.filter((users) => users <= maxUsers)) {
      const options = { core: 0, environment } as const
      await using process = await startProgram<WaitingQuestion, WaitingAnswer>(`waiting-users/${program}`, options)
      cells.push(`${Math.round((await process.ask({ count })).bytesPerUser)} B`)
    }
    if (cells.length < counts.length) cells.push(`at most ${maxUsers} sessions`)
    print(`  ${name.padEnd(30)}  ${revision}  ${cells.map((cell) => cell.padStart(24)).join('')}`)
  }
}

/** Processes that make the calls of users to a server of their own. */
export const programs: Programs = {
  ours: () => serveWaiting(startOurs([]), askCurrent),
  v2: () => serveWaiting(createMcpHandler(createFlowV2).fetch, askCurrent),
  'ours-older': () => serveWaiting(startOurs([legacy()]), askInSession),
  'v2-older': () =>
    serveWaiting(
      withSessions((options) => connect(createFlowV2(), new TransportV2(options))),
      askInSession,
    ),
  v1: () =>
    serveWaiting(
      withSessions((options) => connect(createFlowV1(), new TransportV1(options))),
      askInSession,
    ),
}

/** Serves one request. A header names the user. */
type FetchHandler = (request: Request) => Promise<Response>

function startOurs(extensions: ServerDefinition['extensions']): FetchHandler {
  return httpHandler(flowServer('', extensions), { auth: (request) => ({ subject: request.header(userHeader) ?? '' }) })
}

function withSessions(open: Parameters<typeof transportsOf<{ handleRequest: FetchHandler }>>[0]): FetchHandler {
  const find = transportsOf(open)
  return async (request) => (await find(request.headers.get('mcp-session-id'))).handleRequest(request)
}

/** A question for the memory of a number of users who wait, and the bytes of heap and external memory of each. */
type WaitingQuestion = Readonly<{ count: number }>
type WaitingAnswer = Readonly<{ bytesPerUser: number }>

/** Users before the first measurement, so that compiled code and filled caches do not count. */
const warmUp = 1000

/** Makes the calls of users who do not answer, and returns the memory that they take. */
function serveWaiting(handler: FetchHandler, ask: (handler: FetchHandler, user: number) => Promise<object>): void {
  answerQuestions(async ({ count }: WaitingQuestion): Promise<WaitingAnswer> => {
    const held: object[] = []
    const make = async (to: number): Promise<void> => {
      for (let user = held.length; user < to; user += 1) held.push(await ask(handler, user))
    }
    await make(warmUp)
    const before = await usedMemory()
    await make(count)
    return { bytesPerUser: ((await usedMemory()) - before) / (count - warmUp) }
  })
}

async function usedMemory(): Promise<number> {
  await collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const url = 'http://localhost:3000/mcp'

async function askCurrent(handler: FetchHandler, user: number): Promise<object> {
  const headers = { ...firstCall.headers, host: 'localhost:3000', [userHeader]: `user-${user}` }
  const response = await handler(new Request(url, { method: 'POST', headers, body: firstCall.body }))
  requireText(await response.text(), firstCall.expected)
  // The response is complete, so neither side keeps anything.
  return {}
}

/** A call of 2025-11-25, in a session of its own. The question comes in the open response of the call. */
async function askInSession(handler: FetchHandler, user: number): Promise<object> {
  const accept = 'application/json, text/event-stream'
  const own = { 'content-type': 'application/json', accept, host: 'localhost:3000', [userHeader]: `user-${user}` }
  const post = (message: object, more: Readonly<Record<string, string>> = {}): Promise<Response> => {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message })
    return handler(new Request(url, { method: 'POST', headers: { ...own, ...more }, body }))
  }
  const opened = await post({ id: 0, method: 'initialize', params: initializeParams })
  requireText(await opened.text(), '2025-11-25')
  const sessionId = opened.headers.get('mcp-session-id') ?? ''
  const session = { 'mcp-session-id': sessionId, 'mcp-protocol-version': '2025-11-25' }
  await (await post({ method: 'notifications/initialized' }, session)).text()
  const response = await post({ id: 1, method: 'tools/call', params: callParams }, session)
  const reader = response.body?.getReader()
  let text = ''
  while (reader !== undefined && !text.includes('elicitation/create')) {
    const { done, value } = await reader.read()
    if (done) break
    text += new TextDecoder().decode(value)
  }
  requireText(text, 'elicitation/create')
  return { response, reader }
}

function requireText(text: string, expected: string): void {
  if (!text.includes(expected))
    throw new Error(`the server must answer with ${expected}, and answered ${text.slice(0, 300)}`)
}
