import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Server } from '@x/schema'
import { type HttpServer, serveHttp } from '@x/transport-http/node'

/** Answers a request for a page; false when there is none for it. */
export type Page = (request: IncomingMessage, response: ServerResponse) => boolean

const path = '/mcp'
/** Twice this, for calls and then for tasks, is less than the parent gives. */
const graceMs = 1_000

/**
 * Serves a server at `/mcp`, and a page at every other path, on a free port of this machine alone. SIGTERM stops both and releases the
 * tasks for the other instances.
 */
export function serveInstance(server: Server, page?: Page): Promise<HttpServer> {
  return serveHttp(server, {
    path,
    stopOnSignals: { graceMs },
    onRequest: (request, response) => {
      // The balancer shares connections out, and a browser keeps its own: then every round would come to one instance.
      response.shouldKeepAlive = false
      return request.url?.split('?', 1)[0] !== path && page?.(request, response) === true
    },
  })
}
