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
const fetch: typeof globalThis.fetch = async (address, request) => {
  const token = new Headers(request?.headers).get('authorization')
  return Response.json({ request: `${request?.method} ${new URL(String(address)).pathname}`, token })
}

const tokens = new Map([['ada', 'token-of-ada']])
const tools = openApiTools(document, {
  url: 'http://localhost:8080',
  credential: (caller) => {
    const token = tokens.get(caller?.subject ?? '')
    if (token === undefined) return { loginUrl: 'https://login.example.com/orders' }
    return { headers: () => ({ authorization: `Bearer ${token}` }), onResponse: () => undefined }
  },
  fetch,
})
const server = createServer({ name: 'orders', version: '1.0.0', tools })

for (const subject of ['ada', 'grace']) {
  // A transport takes the caller from the token that `protect` has verified. This program names the caller itself.
  const client = createClient((request, call) => server.exchange(request, { ...call, principal: { subject } }), {
    name: 'host',
    version: '1.0.0',
    // A host shows the question to its user. This one prints it, and accepts.
    elicit: ({ message }) => {
      console.log(message)
      return { action: 'accept', content: { confirm: true } }
    },
  })
  const { structuredContent, content } = await client.callTool('deleteOrder', { id: 7 })
  console.log(structuredContent ?? content)
}
