import { createClient } from '@x/client'
import { legacy } from '@x/legacy'
import { connectAny } from '@x/legacy/client'
import { createServer, tool } from '@x/server'
import { serveHttp } from '@x/transport-http/node'

const ping = tool('ping', { description: 'Answers', run: () => 'pong' })
const server = createServer({ name: 'demo', version: '1.0.0', tools: [ping], extensions: [legacy()] })
const http = await serveHttp(server)

// `probe`, the default, detects the revision of the server. `older` assumes an older revision.
for (const revision of ['probe', 'older']) {
  const connection = connectAny(http.url, { revision })
  const client = createClient(connection, { name: 'host', version: '1.0.0' })
  const { content } = await client.callTool('ping')
  console.log(connection.peer?.revision, content[0])
  await connection.close()
}
await http.close()
