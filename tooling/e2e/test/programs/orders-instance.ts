import { openApiTools } from '@x/openapi'
import { createServer, sealedState } from '@x/server'
import { serveHttp } from '@x/transport-http/node'

const { API_URL = '', STATE_KEYS = '' } = process.env
const parameters = [{ name: 'id', in: 'path' }]
const paths = { '/orders/{id}': { delete: { operationId: 'deleteOrder', parameters } } }
const tools = openApiTools({ openapi: '3.1.0', paths }, { url: API_URL, idempotencyHeader: 'Idempotency-Key' })
const state = sealedState({ keys: STATE_KEYS.split(',') })

void serveHttp(createServer({ name: 'orders', version: '1.0.0', tools, state })).then(({ port }) => console.log(port))
