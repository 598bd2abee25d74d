import { manualClock } from '@tooling/vitest/manual-clock'
import { createServer, prompt, resource, type ServerDefinition, tool } from '@x/server'
import { describe, expect, test } from 'vitest'
import { createClient } from '../index.ts'
import { flushPromises } from '../testing/asking.ts'
import { hostInfo } from '../testing/scripted-exchange.ts'
import { collectItems } from '../testing/streaming.ts'

const greet = tool('greet', { description: 'Greets', run: () => 'hi' })
const wave = tool('wave', { description: 'Waves', run: () => '~' })

function serve(more: Partial<ServerDefinition> = {}) {
  let text = 'one'
  const read = (): string => text
  const server = createServer({
    name: 'demo',
    version: '1.0.0',
    tools: [greet],
    resources: [
      resource('file:///a', { name: 'a', cache: { ttlMs: 1_000_000 }, read }),
      resource('file:///hidden', { name: 'hidden', read, visibleTo: () => false }),
    ],
    cache: { ttlMs: 1_000_000 },
    ...more,
  })
  const clock = manualClock()
  const client = createClient(server, { ...hostInfo, runtime: clock })
  const write = (next: string): Promise<void> => {
    text = next
    return server.notifyResourceUpdated('file:///a')
  }
  return { server, client, clock, write }
}

describe('With a real server, a client', () => {
  test('receives the changes that the server honours, and their filter [SUB-005]', async () => {
    const { server, client, write } = serve()
    const subscription = client.listen({
      toolsListChanged: true,
      promptsListChanged: true,
      resourceSubscriptions: ['file:///a', 'file:///hidden', 'file:///unknown'],
    })
    const events = subscription[Symbol.asyncIterator]()
    expect(await collectItems(events, 1)).toEqual([
      {
        type: 'opened',
        notifications: { toolsListChanged: true, resourceSubscriptions: ['file:///a'] },
        refused: { promptsListChanged: true, resourceSubscriptions: ['file:///hidden', 'file:///unknown'] },
        mayHaveMissedChanges: false,
      },
    ])
    await server.notifyListChanged('tools')
    await server.notifyListChanged('prompts')
    await server.notifyResourceUpdated('file:///hidden')
    await write('two')
    expect(await collectItems(events, 2)).toEqual([
      { type: 'toolsListChanged' },
      { type: 'resourceUpdated', uri: 'file:///a' },
    ])
    await subscription.close()
  })

  test('reads the new list after a change, and nothing before [CCH-020]', async () => {
    const { server, client, write } = serve()
    await using subscription = client.listen({ toolsListChanged: true, resourceSubscriptions: ['file:///a'] })
    const events = subscription[Symbol.asyncIterator]()
    await events.next()
    const look = async (): Promise<unknown> => [
      (await client.listTools()).map(({ name }) => name),
      (await client.readResource('file:///a')).contents.map((one) => 'text' in one && one.text),
    ]
    expect(await look()).toEqual([['greet'], ['one']])
    expect(await look()).toEqual([['greet'], ['one']])
    expect(client.cache.hits).toBe(2)
    server.update({ tools: [greet, wave] })
    await write('two')
    await collectItems(events, 2)
    expect(await look()).toEqual([['greet', 'wave'], ['two']])
    expect(client.cache.hits).toBe(2)
  })

  test('keeps its lists fresh', async () => {
    const { server, client, clock } = serve()
    await using _ = client.keepFresh()
    await client.listTools()
    await flushPromises()
    server.update({ tools: [greet, wave] })
    await flushPromises()
    clock.advance(1000)
    await flushPromises()
    const { misses } = client.cache
    expect(await client.listTools()).toHaveLength(2)
    expect(client.cache.misses).toBe(misses)
  })

  test('leaves nothing on the server: two side by side end each for itself', async () => {
    const { server, client } = serve({ limits: { streams: 2 } })
    const filter = { toolsListChanged: true } as const
    for (let round = 0; round < 100; round += 1) {
      const [one, two] = [client.listen(filter), client.listen(filter)]
      const [ones, twos] = [one[Symbol.asyncIterator](), two[Symbol.asyncIterator]()]
      expect(await collectItems(ones, 1)).toMatchObject([{ type: 'opened' }])
      expect(await collectItems(twos, 1)).toMatchObject([{ type: 'opened' }])
      await one.close()
      await server.notifyListChanged('tools')
      expect([await collectItems(ones, 1), await collectItems(twos, 1)]).toEqual([[], [{ type: 'toolsListChanged' }]])
      await twos.return?.()
    }
  })

  test('is rejected at once when the server has no subscriptions', async () => {
    const { client } = serve({ subscriptions: false })
    const events = client.listen({ toolsListChanged: true })[Symbol.asyncIterator]()
    await expect(events.next()).rejects.toMatchObject({ code: 'rpc', rpc: { code: -32601 } })
  })

  test('is opened again when there is room', async () => {
    const { client, clock } = serve({ limits: { streams: 1 }, prompts: [prompt('p', { run: () => 'p' })] })
    const first = client.listen({ toolsListChanged: true })
    const second = client.listen({ promptsListChanged: true })
    const events = second[Symbol.asyncIterator]()
    const [refused] = await collectItems(events, 1)
    expect(refused).toMatchObject({ type: 'interrupted', error: { code: 'rpc' } })
    await first.close()
    clock.advance(1000)
    expect(await collectItems(events, 1)).toMatchObject([{ type: 'opened', mayHaveMissedChanges: true }])
    await second.close()
  })
})
