import { tool } from '@x/server'
import { serveHttp } from '@x/transport-http/node'
import { expect, test } from 'vitest'
import { createRpcRequest, createScriptedClient } from '../src/testing/scripted-client.ts'
import { createLegacyServer } from '../src/testing/serve-legacy.ts'

test('a stop ends the GET stream at once, and answers calls that are left with 503', async () => {
  let begun = (): void => {}
  const running = new Promise<void>((resolve) => (begun = resolve))
  const never = tool('never', {
    description: 'Never ends',
    run: () => {
      begun()
      return new Promise<string>(() => {})
    },
  })
  const server = createLegacyServer({ tools: [never] })
  const http = await serveHttp(server)
  const client = createScriptedClient((request) => {
    const { method, headers, body } = request
    const sent = new Headers(headers)
    sent.delete('host')
    return fetch(http.url, { method, headers: sent, ...(body && { body, duplex: 'half' }) } as RequestInit)
  })
  await client.initialize()
  const listening = await client.get()
  const call = client.post(createRpcRequest('tools/call', { name: 'never', arguments: {} }))
  await running
  const closed = http.close({ graceMs: 50 })
  expect(await listening.readEvent()).toBeUndefined()
  const { status, json } = await call
  expect([status, json]).toMatchObject([503, { error: { code: -32603, data: { reason: 'stopping' } } }])
  await closed
})
