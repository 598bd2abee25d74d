import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { isJsonObject, type JsonObject, metaKeys } from '@x/schema'
import { listenLocally } from './listen-locally.ts'

/** Servers of revision 2026-07-28 that violate the protocol, each at its own path. */
export interface HostileUpstreams extends AsyncDisposable {
  urlOf(behaviour: string): string
  /** The number of tool calls that arrived, by behaviour. */
  readonly arrived: ReadonlyMap<string, number>
  /** The number of open sockets. */
  sockets(): Promise<number>
}

/** A request with its open response. */
interface Arrival {
  readonly id: unknown
  readonly params: JsonObject
  readonly response: ServerResponse
  /** The id of the previous request. */
  readonly otherId: unknown
}

/** The number of notifications of one call. */
const notificationCount = 5000
/** The size of a message that exceeds the limit of a client. */
const floodBytes = 17 * 1024 * 1024
/** The names of the tools of the upstream `names`. */
const hostileNames = ['m'.repeat(128), 'n'.repeat(100_000), 'honest__sum', 'a b', '../x', '__proto__', 'constructor']

const notification = (method: string, params: JsonObject): JsonObject => ({ jsonrpc: '2.0', method, params })
const complete = (result: JsonObject): JsonObject => ({ resultType: 'complete', ...result })
const textResult = (text: string): JsonObject => complete({ content: [{ type: 'text', text }] })
const canaryIn = ({ params }: Arrival): string => String(Object(params['arguments'])['canary'])

/** The reaction to a tool call, by behaviour. */
const behaviours: Readonly<Record<string, (arrival: Arrival) => void>> = {
  hang: () => {},
  stream: ({ response }) => void openStream(response).write(': nothing follows\n\n'),
  shape: (arrival) => answer(arrival, complete({ content: { length: 1e9 } })),
  question: (arrival) =>
    answer(arrival, { resultType: 'input_required', inputRequests: { a: { method: 'shell/run' } } }),
  'no-json': ({ response }) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc":'),
  redirect: ({ response }) => void response.writeHead(307, { location: 'http://127.0.0.1:9/mcp' }).end(),
  ids: (arrival) => answer({ ...arrival, id: arrival.otherId }, textResult(canaryIn(arrival))),
  flood: (arrival) => answer(arrival, textResult('x'.repeat(floodBytes))),
  noise: sendNoise,
  names: (arrival) => answer(arrival, textResult('names')),
  changes: (arrival) => answer(arrival, textResult(canaryIn(arrival))),
}

/** Starts the hostile servers. */
export async function startHostileUpstreams(): Promise<HostileUpstreams> {
  const arrived = new Map<string, number>()
  let lists = 0
  let lastId: unknown
  const http = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  })
  const answers: Readonly<Record<string, (arrival: Arrival, behaviour: string) => void>> = {
    'server/discover': (arrival) => answer(arrival, discovery),
    'tools/list'(arrival, behaviour) {
      lists += 1
      answer(arrival, { ...complete({ tools: toolsOf(behaviour, lists) }), ttlMs: 0, cacheScope: 'private' })
    },
    'subscriptions/listen': sendChanges,
    'tools/call'(arrival, behaviour) {
      lastId = arrival.id
      arrived.set(behaviour, (arrived.get(behaviour) ?? 0) + 1)
      behaviours[behaviour]?.(arrival)
    },
  }
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const behaviour = request.url?.slice(1) ?? ''
    const message = await json(request)
    if (!isJsonObject(message) || behaviour === 'mute') return
    const { id, method, params } = message
    const arrival = { id, params: isJsonObject(params) ? params : {}, response, otherId: otherThan(id, lastId) }
    answers[String(method)]?.(arrival, behaviour)
  }
  const port = await listenLocally(http)
  return {
    arrived,
    urlOf: (behaviour) => `http://127.0.0.1:${port}/${behaviour}`,
    sockets: () => new Promise((resolve) => http.getConnections((_, count) => resolve(count))),
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        http.close(() => resolve())
        http.closeAllConnections()
      }),
  }
}

const discovery = complete({
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: { listChanged: true } },
  ttlMs: 0,
  cacheScope: 'private',
})

function otherThan(id: unknown, lastId: unknown): unknown {
  return lastId === undefined || lastId === id ? `${String(id)}-other` : lastId
}

/** Lists the tools of an upstream. The list of `changes` differs each time. */
function toolsOf(behaviour: string, lists: number): JsonObject[] {
  const changing = behaviour === 'changes' ? [`go-${lists}`] : []
  const names = behaviour === 'names' ? hostileNames : ['go', ...changing]
  return names.map((name) => ({ name, description: 'A tool', inputSchema: { type: 'object' } }))
}

function answer({ id, response }: Arrival, result: JsonObject): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, result }))
}

function openStream(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { 'content-type': 'text/event-stream' })
}

function sendEvent(response: ServerResponse, message: JsonObject): void {
  response.write(`data: ${JSON.stringify(message)}\n\n`)
}

/** Sends notifications about this call, about unknown calls and about lists, and then the result. */
function sendNoise(arrival: Arrival): void {
  const { id, params, response, otherId } = arrival
  const progressToken = Object(params['_meta'])['progressToken']
  const stream = openStream(response)
  for (let progress = 1; progress <= notificationCount; progress += 1) {
    const token = progress % 2 === 0 ? progressToken : otherId
    sendEvent(
      stream,
      notification('notifications/progress', { progressToken: token, progress, message: canaryIn(arrival) }),
    )
  }
  sendEvent(stream, notification('notifications/tools/list_changed', {}))
  sendEvent(stream, notification('notifications/cancelled', { requestId: String(otherId) }))
  sendEvent(stream, { jsonrpc: '2.0', id, result: textResult(canaryIn(arrival)) } as JsonObject)
  stream.end()
}

/** Sends changes of the list until the client closes the stream. */
function sendChanges({ id, response }: Arrival): void {
  const _meta = { [metaKeys.subscriptionId]: String(id) }
  const stream = openStream(response)
  const accepted = { notifications: { toolsListChanged: true }, _meta }
  sendEvent(stream, notification('notifications/subscriptions/acknowledged', accepted))
  const timer = setInterval(() => sendEvent(stream, notification('notifications/tools/list_changed', { _meta })), 5)
  response.once('close', () => clearInterval(timer))
}
