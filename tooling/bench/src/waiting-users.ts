import { randomUUID } from 'node:crypto'
import { callOf } from './calls.ts'
import { answerQuestions, collectGarbage, type Programs, startProgram } from './processes.ts'
import { print } from './ratios.ts'
import { legacy } from '@x/legacy'
import { createServer, form, sealedState, tool } from '@x/server'
import { randomKey } from '@x/state-codec'
import { httpHandler } from '@x/transport-http'
import * as z from 'zod'

/** Serves one request. The header `x-user` names the user. */
type FetchHandler = (request: Request) => Promise<Response>

/** A server whose tool `ask` asks its user one thing, and how its clients call it. */
interface WaitingServer {
  readonly revision: '2026-07-28' | '2025-11-25'
  readonly start: () => Promise<FetchHandler>
  /** The largest number of sessions in a process, if it has a limit. */
  readonly maxSessions?: number
}

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
  for (const [name, { revision, maxSessions = Infinity }] of waitingServers) {
    const cells: string[] = []
    for (const count of counts) {
      const isPossible = count <= maxSessions
      cells.push(isPossible ? `${await measureUsers({ name, count })} B` : `at most ${maxSessions} sessions`)
    }
    print(`  ${name.padEnd(30)}  ${revision}  ${cells.map((cell) => cell.padStart(24)).join('')}`)
  }
}

async function measureUsers(question: WaitingQuestion): Promise<number> {
  const environment = { NODE_OPTIONS: '--max-old-space-size=8192' }
  const program = await startProgram<WaitingQuestion, WaitingAnswer>('waiting-users/calls', 0, environment)
  try {
    return Math.round((await program.ask(question)).bytesPerUser)
  } finally {
    await program.stop()
  }
}

/** A process that makes the calls. */
export const programs: Programs = { calls: () => answerQuestions(serveWaiting) }

/** A question for the memory of a number of users who wait at a server. */
interface WaitingQuestion {
  readonly name: string
  readonly count: number
}

/** The bytes of heap and external memory of a user. */
interface WaitingAnswer {
  readonly bytesPerUser: number
}

/** Users before the first measurement, so that compiled code and filled caches do not count. */
const warmUp = 1000

/** Makes the calls of users who do not answer, and returns the memory that they take. */
async function serveWaiting({ name, count }: WaitingQuestion): Promise<WaitingAnswer> {
  const server = waitingServers.get(name)
  if (server === undefined) throw new Error(`no server ${name}`)
  const handler = await server.start()
  const ask = server.revision === '2026-07-28' ? askCurrent : askInSession
  const held: object[] = []
  const make = async (to: number): Promise<void> => {
    for (let user = held.length; user < to; user += 1) held.push(await ask(handler, user))
  }
  await make(warmUp)
  const before = await usedMemory()
  await make(count)
  return { bytesPerUser: ((await usedMemory()) - before) / (count - warmUp) }
}

async function usedMemory(): Promise<number> {
  await collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const url = 'http://localhost:3000/mcp'
const params = { name: 'ask', arguments: { order: 4522 } }
const toolCall = callOf('tools/call', params, 'input_required')
const initializeParams = {
  protocolVersion: '2025-11-25',
  capabilities: { elicitation: { form: {} } },
  clientInfo: { name: 'bench-client', version: '1.0.0' },
}

async function askCurrent(handler: FetchHandler, user: number): Promise<object> {
  const headers = { ...toolCall.headers, host: 'localhost:3000', 'x-user': `user-${user}` }
  const response = await handler(new Request(url, { method: 'POST', headers, body: toolCall.body }))
  requireText(await response.text(), toolCall.expected)
  // The response is complete, so neither side keeps anything.
  return {}
}

/** A call of 2025-11-25, in a session of its own. The question comes in the open response of the call. */
async function askInSession(handler: FetchHandler, user: number): Promise<object> {
  const { accept = '' } = toolCall.headers
  const own = { 'content-type': 'application/json', accept, host: 'localhost:3000', 'x-user': `user-${user}` }
  const post = (message: object, more: Readonly<Record<string, string>> = {}): Promise<Response> => {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message })
    return handler(new Request(url, { method: 'POST', headers: { ...own, ...more }, body }))
  }
  const opened = await post({ id: 0, method: 'initialize', params: initializeParams })
  requireText(await opened.text(), '2025-11-25')
  const sessionId = opened.headers.get('mcp-session-id') ?? ''
  const session = { 'mcp-session-id': sessionId, 'mcp-protocol-version': '2025-11-25' }
  await (await post({ method: 'notifications/initialized' }, session)).text()
  const response = await post({ id: 1, method: 'tools/call', params }, session)
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

const message = 'Send the order?'
const answer = z.object({ sure: z.boolean() })
const description = 'Asks before it sends an order'
const names = { name: 'waiting', version: '1.0.0' }

async function startOurs(extensions: readonly ReturnType<typeof legacy>[]): Promise<FetchHandler> {
  const schema = form(answer)
  const ask = tool('ask', {
    description,
    input: z.object({ order: z.number().int() }),
    async run({ order }, ctx) {
      const { sure } = await ctx.elicit('sure', { message, schema })
      return `${order}: ${sure}`
    },
  })
  const state = sealedState({ keys: [randomKey()] })
  const server = createServer({ ...names, tools: [ask], state, extensions })
  return httpHandler(server, { auth: (request) => ({ subject: request.header('x-user') ?? '' }) })
}

interface Transport {
  handleRequest(request: Request): Promise<Response>
}

/** Gives each session a server and a transport, as the documentation of the official SDK does. */
function serveSessions(open: (keep: (id: string, transport: Transport) => void) => Promise<Transport>): FetchHandler {
  const transports = new Map<string, Transport>()
  const keep = (id: string, transport: Transport): void => void transports.set(id, transport)
  return async (request) => {
    const known = transports.get(request.headers.get('mcp-session-id') ?? '')
    return (known ?? (await open(keep))).handleRequest(request)
  }
}

const properties = { sure: { type: 'boolean' as const } }
const requestedSchema = { type: 'object' as const, properties, required: ['sure'] }

async function startV1(): Promise<FetchHandler> {
  const { McpServer } = await import('@modelcontextprotocol/sdk/server/mcp.js')
  const { WebStandardStreamableHTTPServerTransport: TransportV1 } = await import(
    '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
  )
  return serveSessions(async (keep) => {
    const server = new McpServer(names)
    server.registerTool('ask', { description, inputSchema: { order: z.number().int() } }, async ({ order }, extra) => {
      const options = { timeout: 600_000, relatedRequestId: extra.requestId }
      const { content } = await server.server.elicitInput({ message, requestedSchema }, options)
      return { content: [{ type: 'text', text: `${order}: ${String(content?.['sure'])}` }] }
    })
    const transport: InstanceType<typeof TransportV1> = new TransportV1({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => keep(id, transport),
    })
    await server.connect(transport)
    return transport
  })
}

/** With sessions for older clients, or one handler of 2026-07-28. */
async function startV2(hasSessions: boolean): Promise<FetchHandler> {
  const sdk = await import('@modelcontextprotocol/server')
  const { createMcpHandler, inputRequired, McpServer, WebStandardStreamableHTTPServerTransport: TransportV2 } = sdk
  const create = (): InstanceType<typeof McpServer> => {
    const server = new McpServer(names)
    server.registerTool('ask', { description, inputSchema: z.object({ order: z.number().int() }) }, () =>
      inputRequired({ inputRequests: { sure: inputRequired.elicit({ message, requestedSchema: answer }) } }),
    )
    return server
  }
  if (!hasSessions) {
    const handler = createMcpHandler(create)
    return (request) => handler.fetch(request)
  }
  return serveSessions(async (keep) => {
    const transport: InstanceType<typeof TransportV2> = new TransportV2({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => keep(id, transport),
    })
    await create().connect(transport)
    return transport
  })
}

/** The compared servers, by the names in the report. */
const waitingServers: ReadonlyMap<string, WaitingServer> = new Map<string, WaitingServer>([
  ['these packages', { revision: '2026-07-28', start: () => startOurs([]) }],
  ['official SDK v2', { revision: '2026-07-28', start: () => startV2(false) }],
  [
    'these packages, with legacy()',
    { revision: '2025-11-25', start: () => startOurs([legacy()]), maxSessions: 10_000 },
  ],
  ['official SDK v2, with sessions', { revision: '2025-11-25', start: () => startV2(true) }],
  ['official SDK v1', { revision: '2025-11-25', start: startV1 }],
])
