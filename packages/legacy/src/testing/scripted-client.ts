import { isJsonObject, type JsonObject, type JsonValue } from '@x/schema'

export interface ReceivedResponse {
  readonly status: number
  readonly headers: Headers
  /** Undefined if the body is not JSON. */
  readonly json: JsonValue | undefined
}

export interface ServerEvent {
  readonly id: string | undefined
  readonly retry: string | undefined
  /** Undefined for an event without data. */
  readonly message: JsonObject | undefined
}

/** Reads a stream event by event. */
export interface EventReader {
  readonly status: number
  readonly headers: Headers
  /** The next event with data. Undefined at the end of the stream. */
  readMessage(): Promise<JsonObject | undefined>
  /** The next event, without comments. Undefined at the end of the stream. */
  readEvent(): Promise<ServerEvent | undefined>
  /** Closes the connection. */
  leave(): Promise<void>
}

/** A client of an older revision, which sends what the test wants. */
export interface ScriptedClient {
  readonly sessionId: string | undefined
  /** Sends `initialize`, and returns the result. */
  initialize(params?: JsonObject): Promise<JsonObject>
  post(body: JsonValue, headers?: Record<string, string | undefined>): Promise<ReceivedResponse>
  /** Sends a request, and returns the response's JSON. */
  request(method: string, params?: JsonObject): Promise<JsonObject>
  /** Sends a POST whose answer is a stream. */
  openStream(body: JsonValue, headers?: Record<string, string | undefined>): Promise<EventReader>
  get(headers?: Record<string, string | undefined>): Promise<EventReader>
  end(headers?: Record<string, string | undefined>): Promise<ReceivedResponse>
}

/** Handles a request as a server would. */
export type Fetch = (request: Request) => Promise<Response>

let lastRequestId = 0

/** Each has an id of its own. */
export function createRpcRequest(
  method: string,
  params?: JsonObject,
): { jsonrpc: '2.0'; id: number; method: string; params: JsonObject } {
  lastRequestId += 1
  return { jsonrpc: '2.0', id: lastRequestId, method, params: params ?? {} }
}

/** Sends `headers` with every request. */
export function createScriptedClient(
  fetch: Fetch,
  revision = '2025-11-25',
  headers: Record<string, string> = {},
): ScriptedClient {
  let session: string | undefined
  const send = (method: string, more: Record<string, string | undefined>, body?: JsonValue): Promise<Response> => {
    const all = {
      host: 'localhost',
      accept: 'application/json, text/event-stream',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(session !== undefined && { 'mcp-session-id': session, 'mcp-protocol-version': revision }),
      ...headers,
      ...more,
    }
    const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined)
    const init = { method, headers: given, ...(body !== undefined && { body: JSON.stringify(body) }) }
    return fetch(new Request('http://localhost/mcp', init))
  }
  const receive = async (response: Response): Promise<ReceivedResponse> => {
    const text = await response.text()
    return { status: response.status, headers: response.headers, json: text === '' ? undefined : JSON.parse(text) }
  }
  return {
    get sessionId() {
      return session
    },
    async initialize(params = {}) {
      const clientInfo = { name: 'scripted', version: '1.0.0' }
      const asked = createRpcRequest('initialize', {
        protocolVersion: revision,
        capabilities: {},
        clientInfo,
        ...params,
      })
      session = undefined
      const { json, headers: received } = await receive(await send('POST', {}, asked))
      if (!isJsonObject(json) || !isJsonObject(json['result'])) throw new Error(JSON.stringify(json))
      session = received.get('mcp-session-id') ?? undefined
      return json['result']
    },
    post: async (body, more = {}) => receive(await send('POST', more, body)),
    async request(method, params) {
      const { json } = await receive(await send('POST', {}, createRpcRequest(method, params)))
      return isJsonObject(json) ? json : {}
    },
    openStream: async (body, more = {}) => readEvents(await send('POST', more, body)),
    get: async (more = {}) => readEvents(await send('GET', { accept: 'text/event-stream', ...more })),
    end: async (more = {}) => receive(await send('DELETE', more)),
  }
}

function readEvents(response: Response): EventReader {
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  const event = async (): Promise<ServerEvent | undefined> => {
    for (;;) {
      const end = rest.indexOf('\n\n')
      if (end >= 0) {
        const text = rest.slice(0, end)
        rest = rest.slice(end + 2)
        if (!text.startsWith(':') && text !== '') return parseEvent(text)
        continue
      }
      const { value, done } = (await reader?.read()) ?? { value: undefined, done: true }
      if (done) return undefined
      rest += decoder.decode(value, { stream: true })
    }
  }
  const message = async (): Promise<JsonObject | undefined> => {
    for (;;) {
      const next = await event()
      if (next === undefined || next.message !== undefined) return next?.message
    }
  }
  return {
    status: response.status,
    headers: response.headers,
    readEvent: event,
    readMessage: message,
    leave: async () => reader?.cancel(),
  }
}

function parseEvent(text: string): ServerEvent {
  const field = (name: string): string | undefined =>
    text
      .split('\n')
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2)
  const data = field('data')
  const json: unknown = data === undefined || data === '' ? undefined : JSON.parse(data)
  return { id: field('id'), retry: field('retry'), message: isJsonObject(json) ? json : undefined }
}
