import type { Server } from '@x/exchange'
import { nodeHandler } from '@x/transport-http/node'
import express from 'express'
import type { Express } from 'express'

/**
 * Creates an Express application with an MCP endpoint. After `express.json()` the endpoint uses the parsed body.
 */
export function createApp(server: Server): Express {
  const app = express()
  app.all('/mcp', nodeHandler(server))
  return app
}

/** The same behind a body parser, whose own limit (100 KB by default) then applies first. */
export function createAppWithParser(server: Server): Express {
  const app = express()
  app.use(express.json({ limit: '4mb' }))
  app.all('/mcp', nodeHandler(server))
  return app
}
