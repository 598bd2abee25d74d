import { PassThrough } from 'node:stream'
import type { Server } from '@x/exchange'
import { encodeHeaderValue, isJsonObject, type JsonObject, type JsonValue } from '@x/schema'
import { httpHandler } from '@x/transport-http'
import { serveStdio } from '@x/transport-stdio'

/** What a real host says about itself in its first messages. */
export interface HostProfile {
  readonly host: string
  readonly version: string
  readonly title?: string
  readonly revision: string
  readonly capabilities: JsonObject
}

/** A host with a profile, whose user accepts everything. */
export interface PlayedHost {
  /** The response of the server to the first message of the host. */
  readonly greeting: JsonObject
  /** The methods of the questions that the host was asked, with the mode of an elicitation. */
  readonly asked: readonly string[]
  request(method: string, params?: JsonObject): Promise<JsonObject>
}

/** Carries messages between a host and a server in this process. */
interface Link {
  send(message: JsonObject): void
  receive: (message: JsonObject) => void
}

/** Plays a host over a pair of streams, with one message on each line. */
export function playOverStreams(profile: HostProfile, server: Server): Promise<PlayedHost> {
  const [input, output] = [new PassThrough(), new PassThrough()]
  serveStdio(server, { input, output })
  const link: Link = { send: (message) => input.write(`${JSON.stringify(message)}\n`), receive: () => {} }
  let rest = ''
  output.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) link.receive(parseMessage(line))
  })
  return play(profile, link)
}

/** Plays a host over the fetch handler. Its answers are requests of their own. */
export function playOverHttp(profile: HostProfile, server: Server): Promise<PlayedHost> {
  const handler = httpHandler(server)
  let session: string | undefined
  const post = async (message: JsonObject): Promise<void> => {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(session !== undefined && { 'mcp-session-id': session, 'mcp-protocol-version': profile.revision }),
      ...(profile.revision === '2026-07-28' && modernHeadersOf(message)),
    }
    const init = { method: 'POST', headers, body: JSON.stringify(message) }
    const response = await handler(new Request('http://localhost/mcp', init))
    session ??= response.headers.get('mcp-session-id') ?? undefined
    await readReply(response, (received) => link.receive(received))
  }
  const link: Link = { send: (message) => void post(message), receive: () => {} }
  return play(profile, link)
}

function modernHeadersOf({ method, params }: JsonObject): Record<string, string> {
  const name = isJsonObject(params) ? (params['name'] ?? params['taskId']) : undefined
  return {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': String(method),
    ...(typeof name === 'string' && { 'mcp-name': encodeHeaderValue(name) }),
  }
}

async function readReply(response: Response, receive: (message: JsonObject) => void): Promise<void> {
  let rest = ''
  for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    // The first event of a stream of 2025-11-25 has no data.
    for (const line of lines) if (line.startsWith('data: {')) receive(parseMessage(line.slice('data: '.length)))
  }
  if (rest !== '') receive(parseMessage(rest))
}

function parseMessage(text: string): JsonObject {
  const message: unknown = JSON.parse(text)
  if (isJsonObject(message)) return message
  throw new Error(`expected a message, got ${text.slice(0, 100)}`)
}

async function play(profile: HostProfile, link: Link): Promise<PlayedHost> {
  const { host, version, title, revision, capabilities } = profile
  const clientInfo = { name: host, version, ...(title !== undefined && { title }) }
  const asked: string[] = []
  const waiting = new Map<JsonValue, (response: JsonObject) => void>()
  link.receive = (message) => {
    const { id, method } = message
    if (id === undefined) return
    if (method === undefined) return waiting.get(id)?.(message)
    link.send({ jsonrpc: '2.0', id, result: answerQuestion(message, asked) })
  }
  let lastId = 0
  const exchange = (method: string, params: JsonObject): Promise<JsonObject> =>
    new Promise((resolve) => {
      lastId += 1
      waiting.set(lastId, resolve)
      link.send({ jsonrpc: '2.0', id: lastId, method, params })
    })
  if (revision !== '2026-07-28') {
    const greeting = await exchange('initialize', { protocolVersion: revision, capabilities, clientInfo })
    link.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    return { greeting, asked, request: (method, params = {}) => exchange(method, params) }
  }
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': revision,
    'io.modelcontextprotocol/clientCapabilities': capabilities,
    'io.modelcontextprotocol/clientInfo': clientInfo,
  }
  const request = async (method: string, params: JsonObject = {}): Promise<JsonObject> => {
    const response = await exchange(method, { ...params, _meta })
    const { resultType, inputRequests, requestState } = isJsonObject(response['result']) ? response['result'] : {}
    if (resultType !== 'input_required') return response
    const questions = Object.entries(isJsonObject(inputRequests) ? inputRequests : {})
    const answers = questions.map(([key, question]) => [
      key,
      answerQuestion(isJsonObject(question) ? question : {}, asked),
    ])
    const state = requestState === undefined ? {} : { requestState }
    return request(method, { ...params, inputResponses: Object.fromEntries(answers), ...state })
  }
  return { greeting: await request('server/discover'), asked, request }
}

const maxQuestions = 100

/** Answers a question as a user who accepts, and a model that says hello. */
function answerQuestion({ method, params }: JsonObject, asked: string[]): JsonObject {
  const { mode = 'form', requestedSchema } = isJsonObject(params) ? params : {}
  if (asked.length > maxQuestions) throw new Error('The server asks without end')
  asked.push(method === 'elicitation/create' ? `${method} ${String(mode)}` : String(method))
  if (method === 'roots/list') return { roots: [{ uri: 'file:///work' }] }
  if (method === 'sampling/createMessage')
    return { role: 'assistant', model: 'small', content: { type: 'text', text: 'hello' } }
  if (mode === 'url') return { action: 'accept' }
  const properties = isJsonObject(requestedSchema) ? requestedSchema['properties'] : undefined
  const fields = Object.entries(isJsonObject(properties) ? properties : {})
  const content = fields.map(([name, field]) => [
    name,
    isJsonObject(field) && field['type'] === 'array' ? ['a'] : 'Ada',
  ])
  return { action: 'accept', content: Object.fromEntries(content) }
}
