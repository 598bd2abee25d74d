import { legacy } from '@x/legacy'
import { createServer, tool } from '@x/server'
import { serveHttp } from '@x/transport-http/node'
import * as z from 'zod'

const greet = tool('greet', {
  description: 'Greets a person',
  input: z.object({ name: z.string() }),
  run: ({ name }) => `Hello, ${name}!`,
})
const now = tool('now', { description: 'Returns the time', run: () => new Date().toISOString() })

const server = createServer({ name: 'demo', version: '1.0.0', tools: [greet, now], extensions: [legacy()] })
export const http = await serveHttp(server, { port: Number(process.env['PORT'] ?? 3000) })
