import { createClient } from '@x/client'
import { createServer, tool } from '@x/server'
import { sessionsClient } from '@x/sessions/client'
import { sessions } from '@x/sessions/server'
import { connectHttp } from '@x/transport-http/client'
import { serveHttp } from '@x/transport-http/node'
import * as z from 'zod'
import { printingFetch } from '../wire.mjs'

const counters = sessions({ state: { schema: z.object({ count: z.number() }), initial: { count: 0 } } })
const count = tool('count', {
  description: 'Counts the calls of this conversation',
  run(_, ctx) {
    const session = counters.of(ctx)
    session.setState({ count: session.state.count + 1 })
    return `Call ${session.state.count}`
  },
})
const server = createServer({ name: 'counter', version: '1.0.0', tools: [count], extensions: [counters] })
const http = await serveHttp(server, { port: 0 })

const connection = connectHttp(http.url, { fetch: printingFetch })
const client = createClient(connection, { name: 'host', version: '1.0.0', extensions: [sessionsClient()] })
const session = await client.sessions.create()
await session.callTool('count')
await session.delete()

await connection.close()
await http.close()
