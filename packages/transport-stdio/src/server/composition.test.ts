import { type Call, clientAddressKey, type ServerExtension, transportKey } from '@x/exchange'
import type { RpcNotification } from '@x/schema'
import { manualClock } from '@tooling/vitest/manual-clock'
import { createServer } from '@x/server'
import { expect, test, vi } from 'vitest'
import { echo, testServer } from '../testing/exchanges.ts'
import { createRequest } from '../testing/requests.ts'
import { serveRaw } from '../testing/serve-raw.ts'

test('a notification reaches the extension that declares it, with its principal and context, and no other does', async () => {
  const received: { readonly notification: RpcNotification; readonly call: Call }[] = []
  const recorder: ServerExtension<'recorder', undefined> = {
    extends: 'server',
    name: 'recorder',
    identifier: 'com.example/recorder',
    notifications: ['com.example/moved'],
    start: () => ({ receive: (notification, call) => void received.push({ notification, call }) }),
  }
  const server = createServer({ name: 'demo', version: '1.0.0', extensions: [recorder] })
  await using served = serveRaw(server, { principal: { subject: 'ada' } })
  const notification = { jsonrpc: '2.0', method: 'com.example/moved', params: { to: 3 } }
  served.peer.say(notification, { jsonrpc: '2.0', method: 'com.example/other' }, createRequest(1, 'server/discover'))
  expect(await served.peer.next()).toMatchObject({ id: 1 })
  expect(received.map((each) => each.notification)).toMatchObject([notification])
  const call = received[0]?.call
  expect([call?.principal, call?.context.get(transportKey)]).toEqual([{ subject: 'ada' }, 'stdio'])
  expect(call?.context.get(clientAddressKey)).toBe('stdio')
})

test('the last of the hosts closes the server', async () => {
  const close = vi.fn(async () => {})
  const server = createServer({
    name: 'demo',
    version: '1.0.0',
    extensions: [{ extends: 'server', name: 'engine', identifier: 'com.example/engine', start: () => ({ close }) }],
  })
  // The other host, as a listening port is one.
  const release = server.attachHost()
  const [first, second] = [serveRaw(server), serveRaw(server)]
  for (const { peer, service } of [first, second]) {
    peer.end()
    await service.closed
    expect(close).not.toHaveBeenCalled()
  }
  await release()
  expect(close).toHaveBeenCalledOnce()
})

test('a server that never closes does not hold up the end of the service', async () => {
  const clock = manualClock()
  const server = testServer(echo)
  const closing = vi.fn(() => new Promise<void>(() => {}))
  const served = serveRaw({ ...server, attachHost: () => closing }, { runtime: clock, graceMs: 1000 })
  served.peer.end()
  await expect.poll(() => closing).toHaveBeenCalledExactlyOnceWith({ graceMs: 1000 })
  clock.advance(2000)
  await served.service.closed
})
