import { createServer, type IncomingMessage } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { listenLocally } from './listen-locally.ts'

/** The OpenAPI document of the orders. */
export const ordersDocument = fileURLToPath(new URL('../../../packages/openapi/test/orders.yaml', import.meta.url))

/** An HTTP API of orders that honours an idempotency key, and takes a moment for each request. */
export interface OrdersApi extends AsyncDisposable {
  readonly url: string
  /** The method and the path of each request. */
  readonly requests: readonly string[]
  /** The orders that were deleted, by the keys of the requests. */
  readonly deleted: ReadonlyMap<string, string>
}

/** Starts the API. A request that `isAllowed` rejects is answered with 401. */
export async function startOrdersApi(
  isAllowed: (request: IncomingMessage) => boolean = () => true,
): Promise<OrdersApi> {
  const requests: string[] = []
  const deleted = new Map<string, string>()
  const server = createServer((request, response) => {
    const { method, url = '', headers } = request
    const key = String(headers['idempotency-key'])
    const id = url.slice(url.lastIndexOf('/') + 1)
    if (!isAllowed(request)) return void response.writeHead(401).end()
    requests.push(`${method} ${url}`)
    // The effect comes first, so that an instance may be killed between the effect and its response.
    if (method === 'DELETE') deleted.set(key, deleted.get(key) ?? id)
    const body = JSON.stringify(method === 'DELETE' ? { deleted: id } : { id, dish: 'ramen' })
    void setTimeout(20).then(() => response.setHeader('content-type', 'application/json').end(body))
  })
  const url = `http://127.0.0.1:${await listenLocally(server)}`
  return {
    url,
    requests,
    deleted,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
