import { createClient } from '@x/client'
import { createServer, tool } from '@x/server'
import { sessionsClient } from '@x/sessions/client'
import { sessions } from '@x/sessions/server'
import * as z from 'zod'

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

const client = createClient(server, { name: 'host', version: '1.0.0', extensions: [sessionsClient()] })
const work = await client.sessions.create()
const holidays = await client.sessions.create()
for (const session of [work, work, holidays]) console.log((await session.callTool('count')).content[0])
await work.close()
await holidays.close()
