import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createHonestServer, tool } from '@x/server'
import { type HttpServer, serveHttp } from '@x/transport-http/node'
import * as z from 'zod'

/** A request to a hostile server. */
export interface HostileCall {
  readonly id: unknown
  readonly method: string
  readonly response: ServerResponse
  /** The size of the attack. */
  readonly size: number
}

/** A server with the responses of an attack. */
export interface HostileServer extends AsyncDisposable {
  readonly url: string
}

/** Starts a server that calls `answer` for every request. */
export async function startHostileServer(answer: (call: HostileCall) => void, size: number): Promise<HostileServer> {
  const server = createServer((request, response) => {
    // The client may disconnect at any time.
    response.on('error', () => {})
    void readJson(request).then(({ id, method }) => answer({ id, method, response, size }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Starts the server that the honest client calls. */
export function startHonestServer(): Promise<HttpServer> {
  const input = z.object({ text: z.string() })
  const echo = tool('echo', { description: 'Repeats a text', input, run: ({ text }) => text })
  return serveHttp(createHonestServer({ name: 'honest', version: '1.0.0', tools: [echo] }))
}

/** Sends a complete response. */
export function answerJson(
  { response }: HostileCall,
  text: string | Buffer,
  headers: Record<string, string> = {},
): void {
  response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(text)
}

/** Sends the headers of an event stream, and a text. */
export function beginEvents({ response }: HostileCall, text: string): ServerResponse {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write(text)
  return response
}

/** Writes the same text repeatedly, as fast as the client reads, until the client disconnects. */
export function writeWithoutEnd(response: ServerResponse, text: string): void {
  const write = (): void => {
    while (!response.destroyed) if (!response.write(text)) return
  }
  response.on('drain', write)
  write()
}

async function readJson(request: IncomingMessage): Promise<{ id: unknown; method: string }> {
  let text = ''
  for await (const part of request.setEncoding('utf8')) text += part
  // Only our client sends requests, so the body has this type.
  return JSON.parse(text) as { id: unknown; method: string }
}
