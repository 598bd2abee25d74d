import type { SubscriptionEvent } from '@x/client'
import type { Exchange } from '@x/exchange'
import type { JsonObject, RpcNotification } from '@x/schema'
import { resource, tool } from '@x/server'
import { expect, test } from 'vitest'
import { createGate } from '@tooling/vitest/gate'
import { overEveryTransport } from './over-every-transport.ts'
import { send } from './raw-request.ts'

const subscriptionId = 'io.modelcontextprotocol/subscriptionId'
const named = (name: string) => tool(name, { description: `The tool ${name}`, run: () => name })
const counts = tool('counts', {
  description: 'Reports progress and logs',
  run: (_, ctx) => {
    ctx.progress(1)
    ctx.log('error', 'a fault')
    return 'counted'
  },
})
const definition = {
  tools: [counts],
  resources: ['a', 'b'].map((name) => resource(`test://${name}`, { name, read: () => name })),
}

/** Opens a stream of changes without a client that processes it. */
function listenRaw(exchange: Exchange, id: string, notifications: JsonObject) {
  const controller = new AbortController()
  const received: RpcNotification[] = []
  let nextMessage = createGate()
  const notify = (message: RpcNotification): void => {
    received.push(message)
    nextMessage.open()
  }
  const raw = { method: 'subscriptions/listen', params: { notifications }, id }
  const ended = send(exchange, raw, { signal: controller.signal, notify }).catch((error: unknown) => error)
  return {
    /** Resolves to all messages when a number of them have arrived. */
    received: async (count: number): Promise<readonly RpcNotification[]> => {
      while (received.length < count) {
        nextMessage = createGate()
        await nextMessage.opened
      }
      return received
    },
    close: async (): Promise<void> => {
      controller.abort(new Error('no longer interested'))
      await ended
    },
    ended,
  }
}

overEveryTransport('a subscription', (serve) => {
  test('is acknowledged first and sends only the requested changes, with its id [SUB-001 SUB-002 SUB-003 SUB-004 SUB-006 SUB-007 BAS-062]', async () => {
    await using served = await serve(definition)
    const filter = { toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: ['test://a'] }
    const stream = listenRaw(served.connect().exchange, 'listen-1', filter)
    await stream.received(1)
    await served.server.notifyListChanged('resources')
    await served.server.notifyResourceUpdated('test://b')
    await served.server.notifyResourceUpdated('test://a')
    await served.server.notifyListChanged('tools')
    const received = await stream.received(3)
    const _meta = { [subscriptionId]: 'listen-1' }
    const acknowledged = 'notifications/subscriptions/acknowledged'
    // The server has no prompts, so it does not honour that part of the filter.
    const notifications = { toolsListChanged: true, resourceSubscriptions: ['test://a'] }
    expect(received[0]).toMatchObject({ method: acknowledged, params: { _meta, notifications } })
    expect(received[0]?.params?.['notifications']).toEqual(notifications)
    const changes = received.slice(1).toSorted((one, other) => one.method.localeCompare(other.method))
    expect(changes).toMatchObject([
      { method: 'notifications/resources/updated', params: { _meta, uri: 'test://a' } },
      { method: 'notifications/tools/list_changed', params: { _meta } },
    ])
    await stream.close()
  })

  test('is one of several on a connection, each with its own id and its own changes [SUB-006 SUB-008 STD-007]', async () => {
    await using served = await serve(definition)
    const { exchange } = served.connect()
    const ids = ['one', 'two', 'three']
    const open = ids.map((id, index) =>
      listenRaw(exchange, id, index === 1 ? { toolsListChanged: true } : { resourceSubscriptions: ['test://a'] }),
    )
    await Promise.all(open.map((stream) => stream.received(1)))
    await served.server.notifyResourceUpdated('test://a')
    await served.server.notifyListChanged('tools')
    for (const [index, stream] of open.entries()) {
      const received = await stream.received(2)
      const method = index === 1 ? 'notifications/tools/list_changed' : 'notifications/resources/updated'
      expect(received.map(({ params }) => params?.['_meta'])).toMatchObject(
        Array(2).fill({ [subscriptionId]: ids[index] }),
      )
      expect(received[1]?.method).toBe(method)
    }
    for (const stream of open) await stream.close()
  })

  test('carries no messages of other calls [SHT-020]', async () => {
    await using served = await serve(definition)
    const { exchange } = served.connect()
    const stream = listenRaw(exchange, 'listen', { toolsListChanged: true })
    await stream.received(1)
    const meta = { progressToken: 'listen', 'io.modelcontextprotocol/logLevel': 'debug' }
    const call = { method: 'tools/call', params: { name: 'counts', arguments: {} }, meta, id: 'call' }
    const { notifications } = await send(exchange, call)
    expect(notifications.map(({ method }) => method)).toEqual(['notifications/progress', 'notifications/message'])
    await served.server.notifyListChanged('tools')
    expect((await stream.received(2)).map(({ method }) => method)).toEqual([
      'notifications/subscriptions/acknowledged',
      'notifications/tools/list_changed',
    ])
    await stream.close()
  })

  test('that its client closes ends at the server and frees its stream [CAN-004 SHT-025]', async () => {
    await using served = await serve({ ...definition, limits: { streams: 1 } })
    const { exchange } = served.connect()
    const filter = { toolsListChanged: true }
    const first = listenRaw(exchange, 'first', filter)
    await first.received(1)
    const rejected = await send(exchange, { method: 'subscriptions/listen', params: { notifications: filter } })
    expect(rejected.response).toHaveProperty('error')
    await first.close()
    // The stream counts until the server is notified of the close.
    for (;;) {
      const next = listenRaw(exchange, 'next', filter)
      const opened = await Promise.race([next.received(1).then(() => true), next.ended.then(() => false)])
      await next.close()
      if (opened) break
    }
  })

  test('is read by a client as events, and its lists are fetched again', async () => {
    await using served = await serve({ tools: [named('one')], cache: { ttlMs: 60_000 } })
    const { client } = served.connect()
    await using subscription = client.listen({ toolsListChanged: true })
    const names = async (): Promise<string[]> => (await client.listTools()).map(({ name }) => name)
    const seen: SubscriptionEvent['type'][] = []
    for await (const { type } of subscription) {
      seen.push(type)
      if (type === 'opened') {
        expect(await names()).toEqual(['one'])
        served.server.update({ tools: [named('two')] })
      }
      if (type === 'toolsListChanged') break
    }
    expect(seen).toEqual(['opened', 'toolsListChanged'])
    expect(await names()).toEqual(['two'])
  })

  test('that is aborted rejects with the reason of the signal', async () => {
    await using served = await serve(definition)
    const controller = new AbortController()
    const reason = new Error('the window was closed')
    const subscription = served.connect().client.listen({ toolsListChanged: true }, { signal: controller.signal })
    const events = subscription[Symbol.asyncIterator]()
    expect(await events.next()).toMatchObject({ value: { type: 'opened' } })
    controller.abort(reason)
    await expect(events.next()).rejects.toBe(reason)
  })
})
