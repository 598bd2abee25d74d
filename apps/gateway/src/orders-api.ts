import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JsonObject } from '@x/schema'

const order = { name: 'id', in: 'path', required: true, schema: { type: 'integer' } }

/** The OpenAPI document of the orders. */
export const ordersDocument = {
  openapi: '3.1.0',
  info: { title: 'Orders', version: '1.0.0' },
  paths: {
    '/orders/{id}': {
      parameters: [order],
      get: { operationId: 'getOrder', summary: 'Get an order' },
      delete: { operationId: 'deleteOrder', summary: 'Delete an order' },
    },
  },
} satisfies JsonObject

/** An HTTP API that knows nothing of MCP. */
export interface OrdersApi {
  readonly url: string
  /** The orders that were deleted, one entry for each request. */
  readonly deleted: readonly string[]
  stop(): Promise<void>
}

export async function startOrdersApi(): Promise<OrdersApi> {
  const deleted: string[] = []
  const server = createServer(({ method, url = '' }, response) => {
    const id = url.slice('/orders/'.length)
    if (method === 'DELETE') deleted.push(id)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(method === 'DELETE' ? { deleted: id } : { id, dish: 'ramen' }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A server on a port has an address with a port.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    deleted,
    stop: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
