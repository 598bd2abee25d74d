import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Exchange } from '@x/schema'
import { nodeHandler } from '@x/transport-http/node'

/** Answers a request for a page; false when there is none for it. */
export type Page = (request: IncomingMessage, response: ServerResponse) => boolean

/** An instance that listens. */
export interface ServedInstance {
  readonly port: number
  /** Takes no connection any more, lets answers go out for a moment, and cuts what is left. */
  close(): Promise<void>
}

const endpoint = '/mcp'
const graceMs = 1_000

/** Serves an exchange at `/mcp`, and a page at every other path, on a free port of this machine alone. */
export async function serveInstance(exchange: Exchange, page?: Page): Promise<ServedInstance> {
  const handle = nodeHandler(exchange)
  const server = createServer((request, response) => {
    // The balancer shares connections out, and a browser keeps its own: then every round would come to one instance.
    response.shouldKeepAlive = false
    if (request.url?.split('?', 1)[0] === endpoint) handle(request, response)
    else if (page?.(request, response) !== true) refuse(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = address !== null && typeof address === 'object' ? address.port : 0
  return { port, close: () => close(server) }
}

function refuse(response: ServerResponse): void {
  response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' })
  response.end(`There is nothing here: the endpoint is ${endpoint}\n`)
}

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  const late = setTimeout(() => server.closeAllConnections(), graceMs)
  await closed
  clearTimeout(late)
}
