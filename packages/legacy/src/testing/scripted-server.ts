import { isJsonObject, type JsonObject, type JsonValue } from '@x/schema'

export interface ReceivedRequest {
  readonly method: string
  readonly headers: Headers
  readonly message: JsonObject
}

/** One response as a stream, which a test writes. */
export interface ServerStream {
  readonly response: Response
  send(message: JsonValue | undefined, fields?: { readonly id?: string; readonly retry?: number }): void
  close(): void
  /** Ends the stream with an error, as a broken connection does. */
  breakOff(): void
}

export function openStream(): ServerStream {
  let writer: ReadableStreamDefaultController<Uint8Array> | undefined
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      writer = controller
    },
  })
  const encoder = new TextEncoder()
  return {
    response: new Response(body, { headers: { 'content-type': 'text/event-stream' } }),
    send: (message, { id, retry } = {}) => {
      const lines = [
        ...(id === undefined ? [] : [`id: ${id}`]),
        ...(retry === undefined ? [] : [`retry: ${retry}`]),
        `data: ${message === undefined ? '' : JSON.stringify(message)}`,
      ]
      writer?.enqueue(encoder.encode(`${lines.join('\n')}\n\n`))
    },
    close: () => writer?.close(),
    breakOff: () => writer?.error(new Error('broken')),
  }
}

/** What a test replaces in a server; the rest has defaults. */
export interface ServerScript {
  readonly revision?: string
  readonly capabilities?: JsonObject
  readonly sessionId?: string | undefined
  readonly instructions?: string
  /** Answers an HTTP request instead of the default server, unless it returns undefined. */
  readonly handle?: (arrived: ReceivedRequest) => Response | Promise<Response> | undefined
}

/** A server of an older revision whose answers a test defines. */
export interface ScriptedServer {
  /** Serves one request, as the `fetch` of the connection. */
  readonly fetch: (url: string, init: RequestInit & { readonly signal: AbortSignal }) => Promise<Response>
  /** Everything received, in order. */
  readonly arrived: readonly ReceivedRequest[]
  /** What the client answers next to a request of this server. */
  nextAnswer(): Promise<JsonObject>
  /** Method of each received message, or the HTTP method if the message has none, in order. */
  methods(): string[]
}

export function createReply(
  { message }: ReceivedRequest,
  result: JsonObject,
  headers: Record<string, string> = {},
): Response {
  return Response.json({ jsonrpc: '2.0', id: message['id'], result }, { headers })
}

export function createErrorReply({ message }: ReceivedRequest, error: JsonObject, status = 200): Response {
  return Response.json({ jsonrpc: '2.0', id: message['id'] ?? null, error }, { status })
}

/** Has a session, like a server of the official v1 SDK. */
export function createScriptedServer(script: ServerScript = {}): ScriptedServer {
  const arrived: ReceivedRequest[] = []
  const answers: JsonObject[] = []
  const waiters: ((answer: JsonObject) => void)[] = []
  const take = (message: JsonObject): void => {
    const waiter = waiters.shift()
    if (waiter === undefined) answers.push(message)
    else waiter(message)
  }
  const serve = async (one: ReceivedRequest): Promise<Response> => {
    const handled = await script.handle?.(one)
    if (handled !== undefined) return handled
    const { method, message } = one
    if (method !== 'POST') return new Response(null, { status: method === 'DELETE' ? 200 : 405 })
    if (message['method'] === undefined) take(message)
    if (message['id'] === undefined || message['method'] === undefined) return new Response(null, { status: 202 })
    return message['method'] === 'initialize' ? answerInitialize(one, script) : answerRequest(one)
  }
  return {
    arrived,
    fetch: async (_, { method = 'GET', headers, body, signal }) => {
      signal.throwIfAborted()
      const text = typeof body === 'string' ? body : '{}'
      const message: unknown = JSON.parse(text)
      const one = { method, headers: new Headers(headers), message: isJsonObject(message) ? message : {} }
      arrived.push(one)
      return closeOnAbort(await serve(one), signal)
    },
    nextAnswer: () => {
      const known = answers.shift()
      return known === undefined ? new Promise((resolve) => waiters.push(resolve)) : Promise.resolve(known)
    },
    methods: () =>
      arrived.map(({ method, message }) => (typeof message['method'] === 'string' ? message['method'] : method)),
  }
}

function answerInitialize(one: ReceivedRequest, script: ServerScript): Response {
  const { revision = '2025-11-25', capabilities = { tools: {} }, instructions } = script
  const sessionId = 'sessionId' in script ? script.sessionId : 'session-1'
  const result = {
    protocolVersion: revision,
    capabilities,
    serverInfo: { name: 'scripted', version: '1.0.0' },
    ...(instructions !== undefined && { instructions }),
  }
  return createReply(one, result, sessionId === undefined ? {} : { 'mcp-session-id': sessionId })
}

function answerRequest(one: ReceivedRequest): Response {
  const { method } = one.message
  if (one.headers.get('mcp-protocol-version') === '2026-07-28') {
    return createErrorReply(one, { code: -32000, message: 'Bad Request: Server not initialized' }, 400)
  }
  if (method === 'tools/list') {
    return createReply(one, { tools: [{ name: 'greet', inputSchema: { type: 'object' } }] })
  }
  if (method === 'tools/call') return createReply(one, { content: [{ type: 'text', text: 'done' }] })
  if (method === 'ping' || method === 'logging/setLevel' || method?.toString().startsWith('resources/'))
    return createReply(one, {})
  return createErrorReply(one, { code: -32601, message: 'Method not found' })
}

function closeOnAbort(response: Response, signal: AbortSignal): Response {
  const { body, status, headers } = response
  if (body === null) return response
  const reader = body.getReader()
  const linked = new ReadableStream<Uint8Array>({
    start: (controller) => signal.addEventListener('abort', () => controller.error(signal.reason), { once: true }),
    pull: async (controller) => {
      const { value, done } = await reader.read()
      if (signal.aborted) return
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: () => reader.cancel(),
  })
  return new Response(linked, { status, headers })
}
