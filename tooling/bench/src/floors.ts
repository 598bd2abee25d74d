import { createServer, type ServerResponse } from 'node:http'
import { bareToken } from './bare-token.ts'
import { callOf } from './calls.ts'
import { flowBody, type FlowResult, nextOf, postsOfFlow, type Retry } from './flow-calls.ts'
import { bareServer, echoAnswer, fixedServer } from './peers/bare-server.ts'
import { serveMeasured } from './peers/serve-measured.ts'
import { type Programs, startServer } from './processes.ts'

// The least programs that give the same answers. They parse the body, and check nothing.

/** Answers a text. node:http writes a string together with the header, which is faster than a Buffer. */
export function sendJson(response: ServerResponse, text: string, headers: Readonly<Record<string, string>> = {}): void {
  const length = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }
  response.writeHead(200, { ...length, ...headers }).end(text)
}

/** The floors. A proxy has the name of its upstream in `our-servers.ts`. */
export const programs: Programs = {
  echo: () => serveMeasured(fixedServer(echoAnswer)),
  fetch: serveFetch,
  list: serveList,
  progress: () => serveMeasured(bareServer(sendProgress)),
  flow: serveFlow,
  streams: serveStreams,
  proxy: serveProxy,
}

async function serveFetch(): Promise<void> {
  const { getRequestListener } = await import('@hono/node-server')
  const headers = { 'Content-Type': 'application/json' }
  const listener = getRequestListener(async (request) => {
    await request.json()
    return new Response(echoAnswer, { headers })
  })
  await serveMeasured(createServer(listener))
}

/** Sends the same bytes as our server from memory. */
async function serveList(): Promise<void> {
  const { answerInMemory, toolsServer } = await import('./our-servers.ts')
  const { body } = callOf('tools/list', {}, '')
  await serveMeasured(fixedServer(await answerInMemory(toolsServer(500), body)))
}

/** Writes an event for each notification, with its number, and an event for the response. */
function sendProgress(body: string, _request: unknown, response: ServerResponse): void {
  JSON.parse(body)
  response.writeHead(200, { 'Content-Type': 'text/event-stream' })
  for (let done = 1; done <= 1000; done++) {
    response.write(
      `data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":${done},"total":1000}}\n\n`,
    )
  }
  response.end(
    'data: {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"done"}],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"bench","version":"1.0.0"}}}}\n\n',
  )
}

/** Stores the response of each stream, and writes an event of the same size to each of them. */
async function serveStreams(): Promise<void> {
  const streams = new Set<{ readonly response: ServerResponse; readonly change: string }>()
  const server = bareServer((body, _request, response) => {
    const { id }: { id: number } = JSON.parse(body)
    const event = (method: string, more: object): string => {
      const params = { ...more, _meta: { 'io.modelcontextprotocol/subscriptionId': id } }
      return `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', method, params })}\n\n`
    }
    const stream = { response, change: event('notifications/tools/list_changed', {}) }
    streams.add(stream)
    response.on('close', () => streams.delete(stream))
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' })
    response.write(event('notifications/subscriptions/acknowledged', { notifications: { toolsListChanged: true } }))
  })
  await serveMeasured(server, () => {
    for (const { response, change } of streams) response.write(change)
  })
}

/** The response to a POST of the flow: the recorded text of our server, split at the state. */
interface FlowAnswer {
  readonly before: string
  readonly state: object | undefined
  readonly after: string
}

/** Opens the state of each request, and seals one of the length of ours. It runs no tool, and binds the state to nothing. */
async function serveFlow(): Promise<void> {
  const { answerInMemory, flowServer } = await import('./our-servers.ts')
  const ours = flowServer()
  const answers: FlowAnswer[] = []
  let retry: Retry = {}
  for (let post = 1; post <= postsOfFlow; post++) {
    const text = await answerInMemory(ours, flowBody(retry))
    const { result }: { result: FlowResult } = JSON.parse(text)
    answers.push(splitAtState(text, result.requestState, post))
    retry = nextOf(result)
  }
  const server = bareServer((body, _request, response) => {
    const { params }: { params: Retry } = JSON.parse(body)
    const found = answers[params.requestState === undefined ? 0 : postIn(params.requestState)]
    if (found === undefined) response.writeHead(400).end()
    else sendJson(response, found.state ? `${found.before}${bareToken.seal(found.state)}${found.after}` : found.before)
  })
  await serveMeasured(server)
}

function postIn(token: string): number {
  const state = bareToken.open(token)
  return typeof state === 'object' && state !== null && 'post' in state ? Number(state.post) : Number.NaN
}

function splitAtState(text: string, state: string | undefined, post: number): FlowAnswer {
  if (state === undefined) return { before: text, state: undefined, after: '' }
  const at = text.indexOf(state)
  const missing = state.length - bareToken.seal({ post, journal: '' }).length
  const journal = 'x'.repeat(Math.max(0, Math.floor((missing * 3) / 4)))
  return { before: text.slice(0, at), state: { post, journal }, after: text.slice(at + state.length) }
}

/** Headers that belong to one connection. undici writes its own. */
const hopHeaders: ReadonlySet<string> = new Set(['connection', 'content-length', 'host'])

/** Forwards each body with its headers, and pipes the response. The upstream is on the core of the load. */
async function serveProxy(upstream: string): Promise<void> {
  const { Agent, request: send } = await import('undici')
  const { url } = await startServer(`our-servers/${upstream}`, { core: 1 })
  const dispatcher = new Agent()
  const server = bareServer(async (body, request, response) => {
    const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => !hopHeaders.has(name)))
    const {
      statusCode,
      headers: received,
      body: content,
    } = await send(url, { method: 'POST', headers, body, dispatcher })
    response.writeHead(statusCode, { 'Content-Type': String(received['content-type']) })
    content.pipe(response)
  })
  await serveMeasured(server)
}
