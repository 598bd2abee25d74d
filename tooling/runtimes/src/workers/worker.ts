import { httpHandler } from '@x/transport-http'
import { connectHttp } from '@x/transport-http/client'
import { runChecks } from '../checks.ts'
import { createRuntimeServer } from '../server.ts'

// A short interval, because workerd learns of a closed connection by writing to it.
const serve = httpHandler(createRuntimeServer(), { keepAliveMs: 1000 })

/** A server; with `?server=<url>`, a client that runs the checks. */
export default {
  async fetch(request: Request): Promise<Response> {
    const url = new URL(request.url).searchParams.get('server')
    if (url === null) return serve(request)
    await using connection = connectHttp(url)
    return Response.json(await runChecks(connection))
  },
}
