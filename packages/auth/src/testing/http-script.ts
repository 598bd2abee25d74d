import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ReceivedRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** Fields of the form in the body. */
  readonly form: URLSearchParams
}

/** A body that is not a string is sent as JSON. */
export interface Reply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string | string[]>>
  readonly body?: unknown
}

export type Route = (received: ReceivedRequest) => Reply | Promise<Reply>

/** One response for each path. A test may change the routes while the server runs. */
export interface ScriptedServer extends AsyncDisposable {
  readonly origin: string
  readonly routes: Map<string, Route>
  readonly received: readonly ReceivedRequest[]
  /** Requests for a path so far. */
  count(path: string): number
  /** All received requests as one text, for tests that look for a secret in it. */
  describeRequests(): string
}

export async function createScriptedServer(port = 0): Promise<ScriptedServer> {
  const routes = new Map<string, Route>()
  const received: ReceivedRequest[] = []
  const server = createServer((request, response) => {
    void readRequest(request).then(async (one) => {
      received.push(one)
      sendReply(response, (await routes.get(one.path)?.(one)) ?? { status: 404, body: 'nothing here' })
    })
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const { port: at } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${at}`,
    routes,
    received,
    count: (path) => received.filter((one) => one.path === path).length,
    describeRequests: () =>
      JSON.stringify(received.map((one) => [one.path, one.query.toString(), one.headers, one.body])),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function readRequest(request: IncomingMessage): Promise<ReceivedRequest> {
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) body += chunk
  const { method = '', url = '/', headers } = request
  const { pathname: path, searchParams: query } = new URL(url, 'http://127.0.0.1')
  return { method, path, query, headers, body, form: new URLSearchParams(body) }
}

function sendReply(response: ServerResponse, { status = 200, headers = {}, body }: Reply): void {
  const isText = typeof body === 'string'
  const type = isText ? 'text/html' : 'application/json'
  response.writeHead(status, { 'content-type': type, ...headers })
  response.end(isText ? body : JSON.stringify(body ?? {}))
}
