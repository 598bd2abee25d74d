import { createServer, tool } from '@x/server'
import { createSessionsClient } from '@x/sessions/client'
import { defineSessions, withSessions } from '@x/sessions/server'
import { randomKey, sealed } from '@x/state-codec'
import { z } from 'zod'

// The same keys on every instance, from its secrets: then any of them serves any session.
const sessions = defineSessions({
  codec: sealed({ keys: [process.env['STATE_KEY'] ?? randomKey()] }),
  state: { schema: z.object({ items: z.array(z.string()) }), initial: { items: [] } },
})

const add = tool('add', {
  description: 'Adds something to the shopping list of this conversation',
  input: z.object({ item: z.string() }),
  run({ item }, ctx) {
    const session = sessions.of(ctx)
    session.setState({ items: [...session.state.items, item] })
    return session.state.items.join(', ')
  },
})
const server = withSessions(createServer({ name: 'demo', version: '1.0.0', tools: [add] }), sessions)

// One session for each conversation. The server keeps nothing: what it remembers travels with the calls, sealed.
const client = createSessionsClient(server, { name: 'host', version: '1.0.0' })
await using breakfast = await client.sessions.create()
await using party = await client.sessions.create()
await breakfast.callTool('add', { item: 'eggs' })
await party.callTool('add', { item: 'balloons' })
const { content } = await breakfast.callTool('add', { item: 'bread' })
console.log(content)
