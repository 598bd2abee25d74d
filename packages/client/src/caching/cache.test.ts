import { platformRuntime } from '@x/core'
import type { ConnectionState } from '@x/exchange'
import type { JsonObject } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { withCache } from './cache.ts'
import { createCacheStore } from './cache-store.ts'
import { createClient } from '../create-client.ts'
import { manualClock } from '@tooling/vitest/manual-clock'
import { createMinimalTool, hostInfo, createScriptedExchange, createToolsPage } from '../testing/scripted-exchange.ts'

const contents = (text: string, hints: JsonObject = { ttlMs: 1000, cacheScope: 'private' }): JsonObject => ({
  resultType: 'complete',
  contents: [{ uri: 'a:b', text }],
  ...hints,
})

describe('The cache of a client', () => {
  test('serves a result for as long as it is fresh, and asks again on the next access after [CCH-011 CCH-016 CCH-017]', async () => {
    const clock = manualClock()
    const exchange = createScriptedExchange(() => contents(`at ${clock.monotonicNow()}`))
    const client = createClient(exchange, { ...hostInfo, runtime: clock })
    const first = await client.readResource('a:b')
    clock.advance(999)
    expect(await client.readResource('a:b')).toBe(first)
    clock.advance(1)
    expect(exchange.received).toHaveLength(1)
    expect(await client.readResource('a:b')).toEqual(contents('at 1000'))
    expect([client.cache.hits, client.cache.misses]).toEqual([1, 2])
  })

  test('shares frozen results, and leaves the objects of a server in this process alone', async () => {
    const original = contents('a')
    const client = createClient(
      createScriptedExchange(() => original),
      hostInfo,
    )
    const first = await client.readResource('a:b')
    expect(() => Object.assign(first.contents[0] ?? {}, { text: 'altered' })).toThrow(TypeError)
    expect(() => Object.assign(first, { contents: [] })).toThrow(TypeError)
    expect(await client.readResource('a:b')).toEqual(contents('a'))
    expect(Object.isFrozen(original)).toBe(false)
  })

  test('is off over a connection of several principals, unless it has a partition', async () => {
    const view = () => {
      const exchange = createScriptedExchange(() => contents('x'))
      return { exchange, canMixPrincipals: true }
    }
    const bare = view()
    const uncached = createClient(bare, hostInfo)
    await uncached.readResource('a:b')
    await uncached.readResource('a:b')
    expect(bare.exchange.received).toHaveLength(2)
    const partitioned = view()
    const client = createClient(partitioned, { ...hostInfo, cache: createCacheStore().partition('ada') })
    await client.readResource('a:b')
    await client.readResource('a:b')
    expect(partitioned.exchange.received).toHaveLength(1)
  })

  test('counts freshness from the arrival of the result', async () => {
    const clock = manualClock()
    const exchange = createScriptedExchange(() => {
      clock.advance(5000)
      return contents('slow')
    })
    const client = createClient(exchange, { ...hostInfo, runtime: clock })
    await client.readResource('a:b')
    clock.advance(999)
    await client.readResource('a:b')
    expect(exchange.received).toHaveLength(1)
  })

  test.each<[string, JsonObject]>([
    ['zero [CCH-010]', { ttlMs: 0, cacheScope: 'private' }],
    ['absent [CCH-012]', { cacheScope: 'private' }],
    ['negative [CCH-013]', { ttlMs: -1, cacheScope: 'private' }],
  ])('keeps nothing whose time is %s', async (_title, hints) => {
    const exchange = createScriptedExchange(() => contents('x', hints))
    const client = createClient(exchange, hostInfo)
    await client.readResource('a:b')
    await client.readResource('a:b')
    expect(exchange.received).toHaveLength(2)
  })

  test('never serves another method or other parameters [CCH-008]', async () => {
    const exchange = createScriptedExchange(({ request, params }) =>
      request.method === 'tools/list' ? createToolsPage([]) : contents(JSON.stringify(params)),
    )
    const client = createClient(exchange, hostInfo)
    await client.readResource('a:b')
    expect(await client.readResource('a:c')).toEqual(contents('{"uri":"a:c"}'))
    expect(await client.listTools()).toEqual([])
    expect(exchange.received).toHaveLength(3)
  })

  test.each([{ inputResponses: {} }, { requestState: 's' }])(
    'is passed by when a request carries %j [CCH-009]',
    async (input) => {
      let asked = 0
      const send = async (): Promise<never> => {
        asked += 1
        return contents('x') as never
      }
      const { send: cached, cache } = withCache(send, undefined, {
        clock: platformRuntime,
        events: { emit: undefined },
        connection: {},
      })
      const call = { method: 'resources/read', params: { uri: 'a:b', ...input } } as const
      await cached(call, {})
      await cached(call, {})
      expect([asked, cache.hits, cache.misses]).toEqual([2, 0, 0])
    },
  )

  test('returns nothing from before a login, a logout or an outage, be it stored or on its way', async () => {
    const states = ['connecting', 'open', 'login_needed', 'open'].map(
      (status) => ({ status, loginUrl: undefined, reason: undefined }) as ConnectionState,
    )
    const connection: { state: ConnectionState | undefined } = { state: states[0] }
    let answered = 0
    let duringRead = (): void => {}
    const send = async (): Promise<never> => {
      answered += 1
      duringRead()
      return contents(`answer ${answered}`) as never
    }
    const context = { clock: platformRuntime, events: { emit: undefined }, connection }
    const { send: cached } = withCache(send, undefined, context)
    const read = () => cached({ method: 'resources/read', params: { uri: 'a:b' } }, {})
    duringRead = () => void (connection.state = states[1])
    await read()
    await read()
    expect(answered).toBe(1)
    connection.state = states[2]
    duringRead = () => void (connection.state = states[3])
    await read()
    duringRead = () => {}
    await read()
    await read()
    expect(answered).toBe(3)
  })

  test('can be switched off, and passed by once', async () => {
    const exchange = createScriptedExchange(() => contents('x'))
    const off = createClient(exchange, { ...hostInfo, cache: false })
    await off.readResource('a:b')
    await off.readResource('a:b')
    expect(exchange.received).toHaveLength(2)
    const on = createClient(exchange, hostInfo)
    await on.readResource('a:b')
    await on.readResource('a:b', { refresh: true })
    await on.readResource('a:b')
    expect(exchange.received).toHaveLength(4)
  })

  test('is its own: two clients of one exchange share nothing [CCH-019]', async () => {
    const exchange = createScriptedExchange(() => contents('x'))
    await createClient(exchange, hostInfo).readResource('a:b')
    await createClient(exchange, hostInfo).readResource('a:b')
    expect(exchange.received).toHaveLength(2)
  })

  test('shares a store within a partition and never across [CCH-019]', async () => {
    const store = createCacheStore()
    const asked: string[] = []
    const clientOf = (who: string, partition: string) => {
      const exchange = createScriptedExchange(() => {
        asked.push(who)
        return contents(`secret of ${partition}`, { ttlMs: 1000, cacheScope: 'public' })
      })
      return createClient(exchange, { ...hostInfo, cache: store.partition(partition) })
    }
    await clientOf('ada', 'server,ada').readResource('a:b')
    expect(await clientOf('ada again', 'server,ada').readResource('a:b')).toEqual(
      contents('secret of server,ada', { ttlMs: 1000, cacheScope: 'public' }),
    )
    const eve = clientOf('eve', 'server,eve')
    await eve.readResource('a:b')
    eve.cache.clear()
    await clientOf('ada still', 'server,ada').readResource('a:b')
    expect(asked).toEqual(['ada', 'eve'])
  })

  test.each([
    ['notifications/tools/list_changed', {}, 'tools/list'],
    ['notifications/resources/updated', { uri: 'a:b' }, 'a:b'],
    ['notifications/resources/updated', { uri: 'a:other' }, undefined],
    ['notifications/prompts/list_changed', {}, undefined],
    ['notifications/progress', {}, undefined],
  ])('forgets at %s %j: %s [CCH-020]', async (method, params, stale) => {
    const exchange = createScriptedExchange(({ request }) =>
      request.method === 'tools/list' ? createToolsPage([]) : contents('x'),
    )
    const client = createClient(exchange, hostInfo)
    const useBoth = async (): Promise<unknown> => Promise.all([client.listTools(), client.readResource('a:b')])
    await useBoth()
    client.cache.handleNotification({ jsonrpc: '2.0', method, params })
    await useBoth()
    const again = exchange.received.slice(2).map(({ request, params: asked }) => asked.uri ?? request.method)
    expect(again).toEqual(stale === undefined ? [] : [stale])
  })

  test('does not keep what was asked for before it became stale', async () => {
    let arrive = (_: JsonObject): void => {}
    const exchange = createScriptedExchange(() => new Promise<JsonObject>((resolve) => void (arrive = resolve)))
    const client = createClient(exchange, hostInfo)
    const early = client.readResource('a:b')
    await Promise.resolve()
    client.cache.handleNotification({
      jsonrpc: '2.0',
      method: 'notifications/resources/updated',
      params: { uri: 'a:b' },
    })
    arrive(contents('old'))
    await early
    const late = client.readResource('a:b')
    await Promise.resolve()
    arrive(contents('new'))
    expect(await late).toEqual(contents('new'))
  })
})

describe('A store', () => {
  const entry = (text: string) => ({ result: { text }, freshUntil: 1 })

  test('evicts the least recently used entry when it is full', () => {
    const store = createCacheStore({ maxEntries: 2 }).partition('').entries
    for (const key of ['a', 'b']) store.set(key, entry(key))
    store.get('a')
    store.set('c', entry('c'))
    expect([...store.keys()]).toEqual(['a', 'c'])
  })

  test('forgets when the results are too long together, and keeps none that is too long alone', () => {
    const store = createCacheStore({ maxLength: 100 }).partition('').entries
    store.set('a', entry('x'.repeat(50)))
    store.set('b', entry('x'.repeat(50)))
    store.set('c', entry('x'.repeat(200)))
    expect([...store.keys()]).toEqual(['b'])
  })
})

test('pages are kept each for its own time, and asked for by their cursors [CCH-021]', async () => {
  const clock = manualClock()
  const exchange = createScriptedExchange(({ params }) =>
    params.cursor === undefined
      ? createToolsPage([createMinimalTool('a')], { nextCursor: 'two', ttlMs: 1000 })
      : createToolsPage([createMinimalTool('b')], { ttlMs: 100 }),
  )
  const client = createClient(exchange, { ...hostInfo, runtime: clock })
  await client.listTools()
  clock.advance(500)
  await client.listTools()
  expect(exchange.received.map(({ params }) => params.cursor)).toEqual([undefined, 'two', 'two'])
})
