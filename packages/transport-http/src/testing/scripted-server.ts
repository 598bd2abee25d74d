import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { type Call, createCall } from '@x/exchange'
import { type JsonObject, metaKeys, type RpcNotification, type RpcRequest } from '@x/schema'

export interface ReceivedRequest {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** Resolves when the client closes the request or its connection. */
  readonly closed: Promise<void>
}

/** An HTTP server whose answers the test defines. */
export interface ScriptedServer extends AsyncDisposable {
  readonly url: string
  readonly origin: string
  readonly port: number
  readonly received: readonly ReceivedRequest[]
  /** Counts all connections so far. */
  readonly countConnections: () => number
  /** Counts all received bytes so far, on any connection. */
  readonly countBytes: () => number
  /** Resolves with the next request when it has been received completely. */
  readonly next: () => Promise<ReceivedRequest>
}

export type Answer = (response: ServerResponse, received: ReceivedRequest) => void

export async function scriptedServer(answer: Answer, port = 0): Promise<ScriptedServer> {
  const received: ReceivedRequest[] = []
  const sockets = new Set<Socket>()
  let waiting: ((request: ReceivedRequest) => void)[] = []
  const server = createServer((request, response) => {
    void readRequest(request, response).then((one) => {
      received.push(one)
      for (const resolve of waiting) resolve(one)
      waiting = []
      answer(response, one)
    })
  })
  server.on('connection', (socket) => sockets.add(socket))
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const address = server.address() as AddressInfo
  const origin = `http://127.0.0.1:${address.port}`
  return {
    url: `${origin}/mcp`,
    origin,
    port: address.port,
    received,
    countConnections: () => sockets.size,
    countBytes: () => [...sockets].reduce((sum, socket) => sum + socket.bytesRead, 0),
    next: () => new Promise((resolve) => waiting.push(resolve)),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function readRequest(request: IncomingMessage, response: ServerResponse): Promise<ReceivedRequest> {
  const closed = new Promise<void>((resolve) => response.on('close', resolve))
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) body += chunk
  const { method, url, headers } = request
  return { method, url, headers, body, closed }
}

export function createJsonAnswer(body: unknown, status = 200, headers: Record<string, string> = {}): Answer {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  }
}

export function createEventStreamAnswer(...parts: (string | Uint8Array)[]): Answer {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const part of parts) response.write(part)
    response.end()
  }
}

export function formatEvent(message: unknown): string {
  return `data: ${JSON.stringify(message)}\n\n`
}

/** As a client writes it. */
export function rpcRequest(
  method = 'tools/call',
  params: JsonObject = { name: 'greet' },
  id: string | number = 7,
): RpcRequest {
  const _meta = { [metaKeys.protocolVersion]: '2026-07-28', [metaKeys.clientCapabilities]: {} }
  return { jsonrpc: '2.0', id, method, params: { ...params, _meta } }
}

/** Answers {@link rpcRequest}. */
export function rpcResult(
  result: JsonObject = { resultType: 'complete', content: [] },
  id: string | number = 7,
): JsonObject {
  return { jsonrpc: '2.0', id, result }
}

/** A call that collects its notifications. */
export function callWith(
  signal: AbortSignal = new AbortController().signal,
): Call & { readonly heard: RpcNotification[] } {
  const heard: RpcNotification[] = []
  return Object.assign(createCall({ signal, notify: (message) => void heard.push(message) }), { heard })
}
