import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from '@x/client'
import { server } from './server.js'

const client = createClient(server, { name: 'test', version: '1.0.0' })

test('greet greets a person', async () => {
  const { content } = await client.callTool('greet', { name: 'Ada' })
  deepEqual(content, [{ type: 'text', text: 'Hello, Ada!' }])
})

test('greet rejects arguments without a name', async () => {
  const { isError } = await client.callTool('greet', {})
  equal(isError, true)
})
