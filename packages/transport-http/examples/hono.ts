import type { Server } from '@x/exchange'
import { httpHandler } from '@x/transport-http'
import { Hono } from 'hono'

/** A Hono application with an MCP endpoint; it runs wherever Hono does. */
export function createApp(server: Server): Hono {
  const app = new Hono()
  const handle = httpHandler(server)
  app.all('/mcp', (context) => handle(context.req.raw))
  return app
}
