import { openApiTools } from '@x/openapi'
import { createServer, type McpServer, type StateCodec } from '@x/server'
import { ordersDocument } from './orders-api.ts'

/** A server in the process of the gateway, whose tools are the operations of the API. */
export function createOrdersServer(url: string, state: StateCodec): McpServer {
  const tools = openApiTools(ordersDocument, { url, idempotencyHeader: 'Idempotency-Key' })
  return createServer({ name: 'orders', version: '1.0.0', tools, state })
}
