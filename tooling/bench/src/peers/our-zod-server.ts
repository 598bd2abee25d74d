import { createServer, tool } from '@x/server'
import { serveHttp } from '@x/transport-http/node'
import * as z from 'zod'
import { reportUsage } from './serve-measured.ts'

const echo = tool('echo', {
  description: 'Repeats a text',
  input: z.object({ text: z.string(), times: z.number().int().min(1).max(10) }),
  run: ({ text, times }) => text.repeat(times),
})

const { url } = await serveHttp(createServer({ name: 'bench', version: '1.0.0', tools: [echo] }), { port: 0 })
reportUsage(url)
