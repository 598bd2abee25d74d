import { tokenExchange } from '@x/auth/exchange'
import { protect } from '@x/auth/server'
import { openApiTools } from '@x/openapi'
import { readOpenApi } from '@x/openapi/node'
import { createServer, sealedState } from '@x/server'
import { serveHttp } from '@x/transport-http/node'

const { PORT, STATE_KEYS = '', CLIENT_SECRET } = process.env
const { MCP_URL = 'https://mcp.example.com/mcp', API_URL = 'https://api.example.com' } = process.env
const { ISSUER = 'https://login.example.com' } = process.env

// The issuer gives a token of the API for the token of the caller, which goes to the issuer alone.
const credential = tokenExchange({
  issuer: ISSUER,
  client: { id: 'orders-mcp', secret: CLIENT_SECRET },
  metadata: { resource: API_URL, scopes: ['orders'] },
})
const document = await readOpenApi('orders.yaml')
const tools = openApiTools(document, { url: API_URL, credential, idempotencyHeader: 'Idempotency-Key' })

// Every instance has the keys, so that each can continue a call that another one has asked a question for.
const state = sealedState({ keys: STATE_KEYS.split(',') })
const server = createServer({ name: 'orders', version: '1.0.0', tools, state })
const auth = protect({ resource: MCP_URL, issuers: [ISSUER], scopes: ['orders'] })
const { url } = await serveHttp(server, { port: Number(PORT ?? 3000), auth, stopOnSignals: true })
console.log(url)
