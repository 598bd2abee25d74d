import { describe, expect, test } from 'vitest'
import { createClient } from '../index.ts'
import { flushPromises } from '../testing/asking.ts'
import { allListsFilter, defaultScript, createKeepFreshFixture } from '../testing/keeping-fresh.ts'
import { hostInfo, createToolsPage } from '../testing/scripted-exchange.ts'
import {
  promptsListChangedMethod,
  resourcesListChangedMethod,
  createStreamingExchange,
  toolsListChangedMethod,
  resourceUpdatedMethod,
} from '../testing/streaming.ts'

describe('Keeping lists fresh', () => {
  test('asks again, once, for the lists that change, so that the next call is answered at once [CCH-020]', async () => {
    const { exchange, client, keepFresh, pass } = createKeepFreshFixture()
    const fresh = keepFresh()
    expect(exchange.last().request.params?.notifications).toEqual(allListsFilter)
    exchange.last().acknowledge()
    await client.listTools()
    await client.listResourceTemplates()
    for (let count = 0; count < 10; count += 1) {
      for (const method of [toolsListChangedMethod, promptsListChangedMethod, resourcesListChangedMethod])
        exchange.last().notify(method)
    }
    const received = await pass()
    expect(received.toSorted()).toEqual(['resources/templates/list', 'tools/list', 'two'])
    const { hits } = client.cache
    expect(await client.listTools()).toHaveLength(2)
    expect(client.cache.hits).toBe(hits + 2)
    expect(exchange.received).toHaveLength(6)
    await fresh.close()
  })

  test('knows the lists that were asked for before, and those asked for since', async () => {
    const { exchange, client, keepFresh, pass } = createKeepFreshFixture()
    await client.listPrompts()
    const fresh = keepFresh()
    exchange.last().acknowledge()
    exchange.last().notify(promptsListChangedMethod)
    expect(await pass()).toEqual(['prompts/list'])
    exchange.last().notify(resourcesListChangedMethod)
    expect(await pass()).toEqual([])
    await client.listResources()
    exchange.last().notify(resourcesListChangedMethod)
    expect(await pass()).toEqual(['resources/list'])
    await fresh.close()
  })

  test('asks for nothing when another caller has requested the list already', async () => {
    const { exchange, client, keepFresh, pass } = createKeepFreshFixture()
    await client.listPrompts()
    const fresh = keepFresh()
    exchange.last().acknowledge()
    exchange.last().notify(promptsListChangedMethod)
    await flushPromises()
    await client.listPrompts()
    expect(await pass()).toEqual([])
    await fresh.close()
  })

  test('asks for nothing that the server does not let be kept', async () => {
    const { exchange, client, keepFresh, pass } = createKeepFreshFixture(() => createToolsPage([], { ttlMs: 0 }))
    const fresh = keepFresh()
    exchange.last().acknowledge()
    await client.listTools()
    exchange.last().notify(toolsListChangedMethod)
    expect(await pass()).toEqual([])
    await fresh.close()
  })

  test('asks again for all that is in use after changes may have been missed', async () => {
    const { exchange, client, keepFresh, pass } = createKeepFreshFixture()
    await client.listPrompts()
    await client.listResources()
    const fresh = keepFresh()
    exchange.last().acknowledge()
    exchange.last().end()
    expect(await pass()).toEqual([])
    exchange.last().acknowledge()
    expect((await pass()).toSorted()).toEqual(['prompts/list', 'resources/list'])
    await fresh.close()
  })

  test('does not poll: time that passes asks for nothing [CCH-017]', async () => {
    const { exchange, client, keepFresh, pass } = createKeepFreshFixture()
    await client.listPrompts()
    const fresh = keepFresh()
    exchange.last().acknowledge()
    expect(await pass(10_000_000)).toEqual([])
    await fresh.close()
  })

  test('continues when a list cannot be read, reports it, and asks again at the next change', async () => {
    let isBroken = false
    const { exchange, client, keepFresh, pass, errors } = createKeepFreshFixture((received) =>
      isBroken ? { error: { code: -32603, message: 'no' } } : defaultScript(received),
    )
    await client.listPrompts()
    const fresh = keepFresh()
    exchange.last().acknowledge()
    isBroken = true
    exchange.last().notify(promptsListChangedMethod)
    expect(await pass()).toEqual(['prompts/list'])
    expect(errors).toMatchObject([{ code: 'rpc', method: 'prompts/list' }])
    isBroken = false
    exchange.last().notify(promptsListChangedMethod)
    expect(await pass()).toEqual(['prompts/list'])
    expect(errors).toHaveLength(1)
    await fresh.close()
  })
})

describe('Keeping fresh ends', () => {
  test.each<[string, (fresh: AsyncDisposable & { close(): Promise<void> }, controller: AbortController) => unknown]>([
    ['when it is closed', (fresh) => fresh.close()],
    ['with its scope', (fresh) => fresh[Symbol.asyncDispose]()],
    ['with its signal', (_, controller) => controller.abort('stop')],
  ])('%s: nothing is left, and no error is reported', async (_title, end) => {
    const { exchange, client, keepFresh, pass, clock, errors } = createKeepFreshFixture()
    const controller = new AbortController()
    await client.readResource('a:b')
    await client.listPrompts()
    const fresh = keepFresh({ resources: true, signal: controller.signal })
    exchange.last().acknowledge()
    await pass()
    exchange.last().acknowledge()
    await flushPromises()
    for (const stream of exchange.streams) stream.notify(promptsListChangedMethod)
    exchange.last().notify(resourceUpdatedMethod, { uri: 'a:b' })
    await flushPromises()
    await end(fresh, controller)
    await flushPromises()
    expect(clock.waiting).toBe(0)
    expect(exchange.streams.map(({ call }) => call.signal.aborted)).toEqual([true, true])
    client.cache.clear()
    await client.readResource('a:new')
    expect(await pass(1_000_000)).toEqual([])
    expect([exchange.streams.length, errors]).toEqual([2, []])
    await fresh.close()
  })

  test('when the server has no subscriptions: that is reported, and the cache still works', async () => {
    const { exchange, client, keepFresh, pass, clock, errors } = createKeepFreshFixture()
    await client.readResource('a:b')
    const fresh = keepFresh({ resources: true })
    exchange.last().refuse({ code: -32601, message: 'no' })
    await pass()
    exchange.last().refuse({ code: -32601, message: 'no' })
    await pass()
    expect(errors).toMatchObject([{ rpc: { code: -32601 } }, { rpc: { code: -32601 } }])
    await client.readResource('a:c')
    await pass()
    expect([exchange.streams.length, clock.waiting]).toEqual([2, 0])
    await fresh.close()
  })

  test('when a stream ended that is not to be opened again', async () => {
    const { exchange, client, keepFresh, pass, clock, errors } = createKeepFreshFixture()
    await client.readResource('a:b')
    const fresh = keepFresh({ resources: true, reopen: false })
    await pass()
    for (const stream of exchange.streams) {
      stream.acknowledge()
      stream.end()
    }
    await pass()
    expect(errors).toMatchObject([
      { message: expect.stringContaining('not opened again') },
      { message: expect.stringContaining('not opened again') },
    ])
    expect(clock.waiting).toBe(0)
    await fresh.close()
  })
})

test('a client without a cache cannot keep it fresh', () => {
  const client = createClient(createStreamingExchange(), { ...hostInfo, cache: false })
  expect(() => client.keepFresh()).toThrow('keepFresh needs a cache')
})
