import { createClient } from '@x/client'
import { gateway } from '@x/gateway'
import { createServer, sealedState, tool } from '@x/server'

const count = tool('count', { description: 'Counts the open orders', run: () => '3 orders' })
const find = tool('find', { description: 'Finds a document', run: () => 'invoice.pdf' })

const server = gateway({
  name: 'company',
  version: '1.0.0',
  state: sealedState({ keys: ['6d1f3c0a9be84725d0a1c7f2385e6b94fa07d3c85b1e624979c2ad10e8f3465b'] }),
  upstreams: {
    crm: createServer({ name: 'orders', version: '1.0.0', tools: [count] }),
    files: createServer({ name: 'documents', version: '1.0.0', tools: [find] }),
  },
})

const client = createClient(server, { name: 'host', version: '1.0.0' })
for (const { name } of await client.listTools()) {
  const { content } = await client.callTool(name)
  console.log(name, content[0])
}
