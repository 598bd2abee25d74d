import { legacy } from '@x/legacy'
import { createServer, tool } from '@x/server'
import { serveHttp } from '@x/transport-http/node'
import { z } from 'zod'

const ask = tool('ask', {
  description: 'Asks for a name',
  input: z.object({ text: z.string() }),
  run: async (_, ctx) => {
    const { name } = await ctx.elicit('name', { message: 'Name?', schema: z.object({ name: z.string() }) })
    return `Hello, ${name}`
  },
})

async function start(): Promise<void> {
  const server = createServer({ name: 'target', version: '1.0.0', tools: [ask], extensions: [legacy()] })
  const { port } = await serveHttp(server, { clientAddress: ({ header }) => header('x-caller') })
  process.stdout.write(`${port}\n`)
}

void start()
