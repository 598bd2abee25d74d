import { oauth } from '@x/auth/client'
import { fileStore, loopbackRedirect } from '@x/auth/node'
import { createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'

const url = process.argv[2]
if (url === undefined) console.log('Give the address of an MCP server, such as https://mcp.example.com/mcp')
else await listTools(url)

async function listTools(endpoint: string): Promise<void> {
  const auth = oauth({ client: { name: 'Items' }, redirect: loopbackRedirect(), store: fileStore('items-cli') })
  const connection = connectHttp(endpoint, { auth })
  const client = createClient(connection, { name: 'items-cli', version: '1.0.0' })
  for (const { name } of await client.listTools({ timeoutMs: 300_000 })) console.log(name)
  await connection.close()
}
