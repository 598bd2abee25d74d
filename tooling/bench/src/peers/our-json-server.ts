import { createServer, tool } from '@x/server'
import { serveHttp } from '@x/transport-http/node'
import { reportUsage } from './serve-measured.ts'

const input = {
  type: 'object',
  properties: { text: { type: 'string' }, times: { type: 'integer', minimum: 1, maximum: 10 } },
  required: ['text', 'times'],
} as const

const echo = tool('echo', {
  description: 'Repeats a text',
  input,
  run: ({ text, times }) => String(text).repeat(Number(times)),
})

const { url } = await serveHttp(createServer({ name: 'bench', version: '1.0.0', tools: [echo] }), { port: 0 })
reportUsage(url)
