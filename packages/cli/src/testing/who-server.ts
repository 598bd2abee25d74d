import { createServer, form, randomKey, sealedState, tool } from '@x/server'
import { type HttpServer, serveHttp } from '@x/transport-http/node'
import { z } from 'zod'

const how = form(z.object({ how: z.string() }))

/** Its tool asks. A user's token is the user's name. */
export function serveWho(): Promise<HttpServer> {
  const server = createServer({
    name: 'who',
    version: '1.0.0',
    state: sealedState({ keys: [randomKey()] }),
    log: () => {},
    tools: [
      tool('ask', {
        description: 'Asks',
        run: async (_, ctx) => (await ctx.elicit('how', { message: 'How?', schema: how })).how,
      }),
    ],
  })
  return serveHttp(server, {
    port: 0,
    auth: (request) => ({ subject: (request.header('authorization') ?? '').replace('Bearer ', '') }),
  })
}
