import { describeNeeding } from '@tooling/vitest/needs'
import { createClient } from '@x/client'
import { gateway } from '@x/gateway'
import { createServer, tool } from '@x/server'
import { connectHttp, type HttpConnection } from '@x/transport-http/client'
import { serveHttp } from '@x/transport-http/node'
import { sessionsClient } from '@x/sessions/client'
import { sessions } from '@x/sessions/server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keys, stateWith, textOf } from './asking.ts'
import { type DinnerServer, bundleDinnerServer } from './dinner-server.ts'
import { findFreePort, haproxy, startProxy } from './proxies.ts'

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

describe('a process that is killed while the user thinks, and takes in the answer before it has ended', () => {
  const host = { name: 'host', version: '1.0.0' }
  let dinner: DinnerServer
  beforeAll(async () => {
    dinner = await bundleDinnerServer()
  })
  afterAll(() => dinner?.[Symbol.asyncDispose]())

  const viaGateway = (connection: HttpConnection) =>
    gateway({ ...host, upstreams: { dinner: { connect: () => connection } } })

  test.each([
    ['HTTP', 'order', (connection: HttpConnection) => connection],
    ['a gateway', 'dinner__order', viaGateway],
  ] as const)('does not get it over %s, but the next process does [UNA-003]', async (_, name, targetOf) => {
    const port = await findFreePort()
    await using target = targetOf(connectHttp(`http://127.0.0.1:${port}/mcp`, { runtime: dinner.runtime }))
    expect(await dinner.orderOverHttp(port, target, name)).toEqual({ text: 'ramen', startCount: 2 })
  })

  describeNeeding('haproxy', 'behind HAProxy', (haproxyPath) => {
    test('does not get it, but the next process does [UNA-003]', async () => {
      const port = await findFreePort()
      await using proxy = await startProxy(haproxyPath, haproxy, { ports: [port] })
      await using connection = connectHttp(proxy.url, { runtime: dinner.runtime })
      expect(await dinner.orderOverHttp(port, connection, 'order')).toEqual({ text: 'ramen', startCount: 2 })
    })
  })

  test('does not get it over stdio, but the next process does [UNA-003]', async () => {
    expect(await dinner.orderOverStdio()).toEqual({ text: 'ramen', startCount: 2 })
  })
})
