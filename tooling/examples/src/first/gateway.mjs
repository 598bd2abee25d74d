import { createClient } from '@x/client'
import { gateway } from '@x/gateway'
import { createServer, randomKey, sealedState, tool } from '@x/server'

const count = tool('count', { description: 'Counts the open orders', run: () => '3 orders' })
const find = tool('find', { description: 'Finds a document', run: () => 'invoice.pdf' })

const server = gateway({
  name: 'company',
  version: '1.0.0',
  // Several instances require the same key: read it from a secret.
  state: sealedState({ keys: [randomKey()] }),
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
