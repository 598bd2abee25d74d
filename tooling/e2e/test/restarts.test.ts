import { createClient } from '@x/client'
import { createServer, tool } from '@x/server'
import { connectHttp } from '@x/transport-http/client'
import { serveHttp } from '@x/transport-http/node'
import { sessionsClient } from '@x/sessions/client'
import { sessions } from '@x/sessions/server'
import { expect, test } from 'vitest'
import { keys, stateWith, textOf } from './asking.ts'

/** Creates a server without idempotency, whose tools must not run twice. */
const createPayments = (onRun: () => void) =>
  createServer({
    name: 'payments',
    version: '1.0.0',
    state: stateWith(keys.first),
    tools: [tool('pay', { description: 'Pays', run: () => (onRun(), 'paid') })],
    extensions: [sessions()],
  })

test('calls to a port without a process wait for its restart, and run once [UNA-003]', async () => {
  let runCount = 0
  const previous = await serveHttp(createPayments(() => {}))
  const { url } = previous
  await using connection = connectHttp(url, { retry: false })
  let failureCount = 0
  const exchange: typeof connection.exchange = (request, call) =>
    connection.exchange(request, call).catch((error: unknown) => {
      failureCount += 1
      throw error
    })
  const client = createClient(
    { ...connection, exchange },
    { name: 'host', version: '1.0.0', extensions: [sessionsClient()] },
  )
  await previous.close()

  const paid = client.callTool('pay')
  const created = client.sessions.create()
  // A limit of three attempts would have failed by now.
  await expect.poll(() => failureCount).toBeGreaterThan(8)
  await using _next = await serveHttp(
    createPayments(() => (runCount += 1)),
    { port: Number(new URL(url).port) },
  )
  expect(textOf(await paid)).toBe('paid')
  expect(runCount).toBe(1)
  await using _session = await created
})
