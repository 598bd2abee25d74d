import type { Exchange } from '@x/schema'
import type { Platform } from './platform.ts'
import { readBody } from './read-body.ts'
import type { RequestView } from './request-view.ts'
import { webOutlet, type WebTarget, webTarget } from './respond.ts'
import { serveRequest } from './serve-request.ts'
import { compileSettings } from './settings.ts'
import type { HandlerOptions } from './settings.ts'
import type { HandlerContext } from './run-call.ts'

/** Answers a web request; it never rejects. */
export type FetchHandler = (request: Request) => Promise<Response>

/** How {@link httpHandler} behaves. */
export type HttpHandlerOptions = HandlerOptions<Request>

/**
 * Serves an exchange to web requests, wherever there are any: edge runtimes, Hono, Deno, Bun, tests.
 * On Node's own server `nodeHandler` of `@x/transport-http/node` does the same without making web objects.
 *
 * @example
 * export default { fetch: httpHandler(server, { allowedHosts: ['mcp.example.com'] }) }
 *
 * @throws TypeError or RangeError for options that make no sense.
 */
export function httpHandler(exchange: Exchange, options: HttpHandlerOptions = {}): FetchHandler {
  const settings = compileSettings(options)
  const context: HandlerContext<Request, WebTarget> = {
    exchange,
    settings,
    platform,
    running: [],
    waitCoarsely: undefined,
  }
  return (request) => new Promise((resolve) => void serveRequest(webTarget(request, resolve), context))
}

const platform: Platform<Request, WebTarget> = {
  ...webOutlet,
  viewOf: ({ request }) => viewOf(request),
  readText: ({ request }, maxBytes) => readBody(request, maxBytes),
}

function viewOf(request: Request): RequestView<Request> {
  const { headers, method, url } = request
  return {
    method,
    url,
    source: request,
    // Requests that were made in the same process have no Host header; their URL says it.
    header: (name) => headers.get(name) ?? (name === 'host' ? new URL(url).host : undefined),
    forEachHeader: (visit) => headers.forEach((value, name) => visit(value, name)),
  }
}
