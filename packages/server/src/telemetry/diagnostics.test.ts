import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { expect, test } from 'vitest'
import { createServer, tool } from '../index.ts'
import { diagnostics } from '../node.ts'
import { callTool } from '../testing/ask.ts'

test('each event of a server is published to the channel of its type', async () => {
  const greet = tool('greet', { description: 'Greets', run: () => 'Hello' })
  const server = createServer({ name: 'demo', version: '1.0.0', tools: [greet], extensions: [diagnostics()] })
  const published: unknown[] = []
  const listen = (event: unknown): void => void published.push(event)
  subscribe('x:run', listen)
  await callTool(server, 'greet')
  unsubscribe('x:run', listen)
  await callTool(server, 'greet')
  expect(published).toMatchObject([{ type: 'run', method: 'tools/call', name: 'greet', end: 'finished' }])
})
