import { Agent, createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { isJsonObject, type JsonObject } from '@x/schema'

/** A load balancer without affinity, which also records what passes. */
export interface Front {
  /** The endpoint, which stays the same when processes behind it are replaced. */
  readonly url: string
  /** The messages of the host, in the order of their arrival. */
  readonly messages: readonly JsonObject[]
  close(): Promise<void>
}

/** Starts a load balancer that sends requests to some ports in turns. */
export async function startFront(ports: () => readonly number[]): Promise<Front> {
  const messages: JsonObject[] = []
  // A connection that an instance closes while it is reused would look like a fault of the instance.
  const agent = new Agent({ keepAlive: false })
  let turn = 0
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(request)
    record(body, messages)
    const running = ports()
    turn += 1
    const { url: path, method, headers } = request
    const to = { host: '127.0.0.1', port: running[turn % running.length], path, method, headers, agent }
    const passed = forward(to, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      response.flushHeaders()
      answer.on('error', () => response.destroy()).pipe(response)
    })
    response.on('close', () => passed.destroy())
    passed.on('error', () => (response.headersSent ? response.destroy() : response.writeHead(502).end()))
    passed.end(body)
  }
  const server = createServer((request, response) => void pass(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    messages,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function record(body: Buffer, messages: JsonObject[]): void {
  try {
    const message: unknown = JSON.parse(body.toString())
    if (isJsonObject(message)) messages.push(message)
  } catch {
    // A request without a message, such as GET.
  }
}
