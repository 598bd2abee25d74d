import type { Server } from '@x/exchange'
import { nodeHandler } from '@x/transport-http/node'
import fastify from 'fastify'
import type { FastifyInstance } from 'fastify'

/** A Fastify application with an MCP endpoint. */
export function createApp(server: Server): FastifyInstance {
  const app = fastify()
  const handle = nodeHandler(server)
  app.register(async (scope) => {
    // In this scope Fastify leaves bodies alone, so that the handler reads them with its own bounds and its own errors.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
    scope.all('/mcp', (request, reply) => {
      reply.hijack()
      handle(request.raw, reply.raw)
    })
  })
  return app
}
