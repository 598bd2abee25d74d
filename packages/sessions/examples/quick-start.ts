import { createClient } from '@x/client'
import { createServer, tool } from '@x/server'
import { sessionsClient } from '@x/sessions/client'
import { sessions } from '@x/sessions/server'
import { randomKey, sealedState } from '@x/state-codec'
import * as z from 'zod'

const shopping = sessions({
  state: { schema: z.object({ items: z.array(z.string()) }), initial: { items: [] } },
})

const add = tool('add', {
  description: 'Adds something to the shopping list of this conversation',
  input: z.object({ item: z.string() }),
  run({ item }, ctx) {
    const session = shopping.of(ctx)
    session.setState({ items: [...session.state.items, item] })
    return session.state.items.join(', ')
  },
})
// The same keys on every instance, from its secrets: then any of them serves any session.
const state = sealedState({ keys: process.env['STATE_KEYS']?.split(',') ?? [randomKey()] })
const server = createServer({ name: 'demo', version: '1.0.0', state, tools: [add], extensions: [shopping] })

// One session for each conversation. The server keeps nothing: the state travels with the calls, sealed.
const client = createClient(server, { name: 'host', version: '1.0.0', extensions: [sessionsClient()] })
await using breakfast = await client.sessions.create()
await using party = await client.sessions.create()
await breakfast.callTool('add', { item: 'eggs' })
await party.callTool('add', { item: 'balloons' })
const { content } = await breakfast.callTool('add', { item: 'bread' })
console.log(content)
