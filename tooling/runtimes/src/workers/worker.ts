import { proxy } from '@x/gateway'
import { connectAny } from '@x/legacy/client'
import { type ExecutionContext, type FetchHandler, httpHandler } from '@x/transport-http'
import { connectHttp } from '@x/transport-http/client'
import { runChecks } from '../checks.ts'
import { createRuntimeServer } from '../server.ts'

// The interval is short, because workerd detects a closed connection only when it writes.
const serve = httpHandler(createRuntimeServer(), { keepAliveMs: 1000 })

let serveProxy: FetchHandler | undefined

/** Creates a proxy of the server at a URL. */
function createProxy(url: string): FetchHandler {
  const server = proxy({ connect: () => connectAny(url) }, { name: 'runtime', version: '1.0.0' })
  return httpHandler(server, { keepAliveMs: 1000 })
}

/** A server; with `?server=<url>`, a client that runs the checks; with `?upstream=<url>`, a proxy. */
export default {
  async fetch(request: Request, env: unknown, execution: ExecutionContext): Promise<Response> {
    const { searchParams } = new URL(request.url)
    const upstream = searchParams.get('upstream')
    if (upstream !== null) return (serveProxy ??= createProxy(upstream))(request)
    const url = searchParams.get('server')
    if (url === null) return serve(request, env, execution)
    await using connection = connectHttp(url)
    return Response.json(await runChecks(connection))
  },
}
