import { terminalHandlers } from '@x/cli/terminal'
import { createClient } from '@x/client'
import { createServer, form, tool } from '@x/server'
import * as z from 'zod'

const person = form(z.object({ name: z.string() }))
const greet = tool('greet', {
  description: 'Greets a person',
  run: async (_, ctx) => `Hello, ${(await ctx.elicit('name', { message: 'Who are you?', schema: person })).name}!`,
})
const server = createServer({ name: 'demo', version: '1.0.0', tools: [greet] })

// The person at the terminal answers the questions of the server.
const client = createClient(server, { name: 'host', version: '1.0.0', ...terminalHandlers() })
if (process.stdin.isTTY) console.log((await client.callTool('greet')).content)
else console.log('Start this program in a terminal.')
