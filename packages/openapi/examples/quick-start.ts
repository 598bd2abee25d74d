import { createClient } from '@x/client'
import { openApiTools } from '@x/openapi'
import { createServer } from '@x/server'

const id = { name: 'id', in: 'path', required: true, schema: { type: 'integer' } }
const document = {
  openapi: '3.1.0',
  paths: {
    '/orders/{id}': {
      parameters: [id],
      get: { operationId: 'getOrder', summary: 'Get an order' },
      delete: { operationId: 'deleteOrder', summary: 'Delete an order' },
    },
  },
}

// Stands for the API, so that this program runs alone. Leave it out, and the requests go to the url.
const fetch: typeof globalThis.fetch = async (address, request) =>
  Response.json({ request: `${request?.method} ${new URL(String(address)).pathname}` })

const tools = openApiTools(document, { url: 'http://localhost:8080', fetch })
const server = createServer({ name: 'orders', version: '1.0.0', tools })

// A host shows the question to its user. This one prints it, and accepts.
const client = createClient(server, {
  name: 'host',
  version: '1.0.0',
  elicit: ({ message }) => {
    console.log(message)
    return { action: 'accept', content: { confirm: true } }
  },
})
for (const name of ['getOrder', 'deleteOrder']) {
  const { structuredContent } = await client.callTool(name, { id: 7 })
  console.log(structuredContent)
}
