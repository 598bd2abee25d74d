import { checkArgument, resolveOptions } from '@x/core'
import type { Platform, Server } from '@x/exchange'
import { checkServer } from '@x/exchange/internal'
import type { HttpAuth } from './auth.ts'
import { compileDocuments, findDocumentAnswer } from './documents.ts'
import type { HttpAdapter, RequestView } from './http-adapter.ts'
import { readBody } from './read-body.ts'
import { webResponseWriter, createWebResponse, WebTarget } from './web-response-writer.ts'
import { serveRequest } from './serve-request.ts'
import {
  checkExposure,
  compileSettings,
  type HandlerInternals,
  type HandlerOptions,
  handlerOptionTable,
  setPlatformTimer,
} from './handler-settings.ts'
import type { HandlerContext } from './run-call.ts'

const webOptionTable = {
  ...handlerOptionTable,
  // Bun closes a connection without traffic after 10 seconds, and measures this time in steps of 4 seconds.
  keepAliveMs: { ...handlerOptionTable.keepAliveMs, default: 5000 },
}

/** What a handler uses of a Worker's third argument. */
export interface ExecutionContext {
  waitUntil(promise: Promise<unknown>): void
}

/**
 * Answers a web request, and never rejects. Use it as the `fetch` of a Worker: handlers read `env` and `waitUntil` from
 * the context key {@link platformKey}.
 */
export type FetchHandler = (request: Request, env?: unknown, execution?: ExecutionContext) => Promise<Response>

/** Options of {@link httpHandler}. */
export type HttpHandlerOptions = HandlerOptions<Request>

/**
 * Serves a server to web requests, for example on edge runtimes, Hono, Deno or Bun, and in tests. On Node,
 * `nodeHandler` of `@x/transport-http/node` does the same without creating web objects.
 *
 * @example
 * export default { fetch: httpHandler(server, { allowedHosts: ['mcp.example.com'] }) }
 *
 * @throws TypeError or RangeError for invalid options.
 */
export function httpHandler(server: Server, options: HttpHandlerOptions = {}): FetchHandler {
  return createFetchHandler(server, options)
}

/** Tests pass other internal values. */
export function createFetchHandler(
  server: Server,
  options: HttpHandlerOptions,
  internals: HandlerInternals = {},
): FetchHandler {
  checkServer(server, 'httpHandler')
  const resolved = resolveOptions(options, webOptionTable, 'httpHandler')
  checkExposure(server, resolved)
  const settings = compileSettings(resolved, server, setPlatformTimer, internals)
  const context: HandlerContext<Request, WebTarget> = {
    server,
    settings,
    httpAdapter: webHttpAdapter,
    activeCalls: [],
    adapterRequests: [],
    scheduleOnWheel: undefined,
  }
  return (request, env, execution) => {
    const platform = env === undefined && execution === undefined ? undefined : createPlatform(env, execution)
    return new Promise((resolve) => void serveRequest(new WebTarget(request, platform, resolve), context))
  }
}

function createPlatform(env: unknown, execution: ExecutionContext | undefined): Platform {
  return {
    env,
    waitUntil(promise) {
      // Without a platform that waits, an unhandled rejection would stop Node.
      if (execution === undefined) promise.catch(() => {})
      else execution.waitUntil(promise)
    },
  }
}

/**
 * Serves only the documents of `protect()`, such as the protected resource metadata (RFC 9728), for a router that calls
 * the handler of the endpoint only for its path. The handler returns undefined for a path without a document.
 *
 * @example
 * app.get('/.well-known/*', ({ request }) => documentHandler(auth)(request) ?? notFound())
 *
 * @throws TypeError for a path without a slash at its beginning.
 */
export function documentHandler(
  auth: Pick<HttpAuth<Request>, 'documents'>,
): (request: Request) => Response | undefined {
  checkArgument(auth, { where: 'documentHandler', takes: 'the result of protect()', needs: ['documents'] })
  const compiledDocuments = compileDocuments(auth.documents)
  return (request) => {
    const answer = findDocumentAnswer(compiledDocuments, request)
    return answer === undefined ? undefined : createWebResponse(answer)
  }
}

const webHttpAdapter: HttpAdapter<Request, WebTarget> = {
  ...webResponseWriter,
  createRequestView: createWebRequestView,
  readText: ({ request }, arrivingBody) => readBody(request, arrivingBody),
}

function createWebRequestView({ request, platform }: WebTarget): RequestView<Request> {
  const { headers, method, url } = request
  return {
    method,
    url,
    source: request,
    platform,
    // A request that was created in this process has no `Host` header, so the URL's host is taken.
    headerValues(name) {
      const value = headers.get(name)
      return value === null ? [] : [value]
    },
    header: (name) => headers.get(name) ?? (name === 'host' ? new URL(url).host : undefined),
    forEachHeader: (visit) => headers.forEach((value, name) => visit(value, name)),
  }
}
