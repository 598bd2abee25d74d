import { createClient } from '@x/client'
import { createServer, form, tool } from '@x/server'
import { connectHttp } from '@x/transport-http/client'
import { serveHttp } from '@x/transport-http/node'
import * as z from 'zod'

const colorForm = form(z.object({ color: z.string() }))
const paint = tool('paint', {
  description: 'Paints a wall',
  async run(_, ctx) {
    const { color } = await ctx.elicit('color', { message: 'Which color?', schema: colorForm })
    return `The wall is ${color}`
  },
})
const http = await serveHttp(createServer({ name: 'painter', version: '1.0.0', tools: [paint] }))

const connection = connectHttp(http.url)
const client = createClient(connection, {
  name: 'host',
  version: '1.0.0',
  elicit: ({ message }) => {
    console.log(`The user reads: ${message}`)
    return { action: 'accept', content: { color: 'green' } }
  },
})
console.log((await client.listTools()).map(({ name }) => name))
console.log((await client.callTool('paint')).content)

await connection.close()
await http.close()
