import type { Server } from '@x/schema'
import { nodeHandler } from '@x/transport-http/node'
import express from 'express'
import type { Express } from 'express'

/**
 * An Express application with an MCP endpoint. It may stand after `express.json()`, too: it takes the parsed body then.
 */
export function createApp(server: Server): Express {
  const app = express()
  app.all('/mcp', nodeHandler(server))
  return app
}

/** The same behind a body parser, whose own limit (100 KB unless it is told otherwise) then holds first. */
export function createAppWithParser(server: Server): Express {
  const app = express()
  app.use(express.json({ limit: '4mb' }))
  app.all('/mcp', nodeHandler(server))
  return app
}
