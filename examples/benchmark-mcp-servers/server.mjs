import cluster from 'node:cluster'
import { randomBytes } from 'node:crypto'
import { createServer as createHttpServer } from 'node:http'
import { availableParallelism } from 'node:os'
import { sealedState } from '@x/server'
import { nodeHandler } from '@x/transport-http/node'
import { createShopServer } from './definition.mjs'
import { openShop } from './shop.mjs'

const {
  API_SERVICE_URL: apiUrl = 'http://mcp-api-service:8100',
  REDIS_URL: redisUrl = 'redis://mcp-redis:6379',
  SERVER_TYPE: serverType = 'x',
  WEB_CONCURRENCY: workers = availableParallelism(),
  PORT: port = 8099,
  // Every worker opens the session ids of the others, because all of them have the same key.
  STATE_KEYS: keys = randomBytes(32).toString('hex'),
} = process.env

if (cluster.isPrimary && Number(workers) > 1) {
  for (let index = 0; index < Number(workers); index += 1) cluster.fork({ STATE_KEYS: keys })
  cluster.on('exit', () => cluster.fork({ STATE_KEYS: keys }))
} else {
  const shop = await openShop({ redisUrl, apiUrl, serverType })
  const server = createShopServer(shop, { state: sealedState({ keys: keys.split(',') }) })
  const handle = nodeHandler(server, { allowedHosts: ['localhost', '127.0.0.1'] })
  createHttpServer((request, response) => {
    if (request.url !== '/health') return handle(request, response)
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"status":"ok"}')
  }).listen(Number(port))
}
