import { createClient } from '@x/client'
import { gateway } from '@x/gateway'
import { legacy } from '@x/legacy'
import { connectAny } from '@x/legacy/client'
import { createServer, randomKey, sealedState, tool } from '@x/server'
import { serveHttp } from '@x/transport-http/node'

// Takes the place of a server elsewhere. It may speak any revision.
const find = tool('find', { description: 'Finds a customer', run: () => 'Ada' })
const add = tool('add', { description: 'Adds a note to a customer', run: () => 'added' })
const erase = tool('erase', { description: 'Erases a customer', run: () => 'erased' })
const crm = await serveHttp(createServer({ name: 'crm', version: '1.0.0', tools: [find, add, erase] }))

const company = gateway({
  name: 'company',
  version: '1.0.0',
  // Several instances require the same key: read it from a secret.
  state: sealedState({ keys: [randomKey()] }),
  upstreams: {
    crm: {
      connect: () => connectAny(crm.url),
      tools: { allow: ['find', 'add'], rename: { add: 'add_note' } },
      // While this upstream is unreachable, /readyz returns 503.
      required: true,
    },
  },
  // For hosts of older revisions.
  extensions: [legacy()],
})
const http = await serveHttp(company, { port: Number(process.env['PORT'] ?? 3000) })

// A host. Without the lines from here on, the gateway keeps running.
const connection = connectAny(http.url)
const client = createClient(connection, { name: 'host', version: '1.0.0' })
for (const { name, description } of await client.listTools()) console.log(`${name}: ${description}`)
await connection.close()
await http.close()
await crm.close()
