import type { JsonObject, SubscriptionFilter } from '@x/schema'
import { manualClock } from '@tooling/vitest/manual-clock'
import { describe, expect, test } from 'vitest'
import { createClient } from '../index.ts'
import { flushPromises } from '../testing/asking.ts'
import { hostInfo, type ReceivedRequest } from '../testing/scripted-exchange.ts'
import {
  promptsListChangedMethod,
  resourcesListChangedMethod,
  createStreamingExchange,
  toolsListChangedMethod,
  resourceUpdatedMethod,
} from '../testing/streaming.ts'

const hints = { resultType: 'complete', ttlMs: 1_000_000, cacheScope: 'private' } as const
const answers: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  ['tools/list', { ...hints, tools: [] }],
  ['prompts/list', { ...hints, prompts: [] }],
  ['resources/list', { ...hints, resources: [] }],
  ['resources/templates/list', { ...hints, resourceTemplates: [] }],
  ['resources/read', { ...hints, contents: [] }],
])
const answer = ({ request }: ReceivedRequest): JsonObject => answers.get(request.method) ?? {}

const everything: SubscriptionFilter = {
  toolsListChanged: true,
  promptsListChanged: true,
  resourcesListChanged: true,
  resourceSubscriptions: ['file:///a', 'file:///a/b'],
}
const uris = ['file:///a', 'file:///a/b', 'file:///a/b/c', 'file:///c']
const asked = ({ request, params }: ReceivedRequest): unknown => params.uri ?? request.method

async function start(filter: SubscriptionFilter = everything) {
  const clock = manualClock()
  const exchange = createStreamingExchange(answer)
  const client = createClient(exchange, { ...hostInfo, runtime: clock })
  const use = async (): Promise<unknown[]> => {
    const before = exchange.received.length
    await Promise.all([
      client.listTools(),
      client.listPrompts(),
      client.listResources(),
      client.listResourceTemplates(),
    ])
    for (const uri of uris) await client.readResource(uri)
    return exchange.received.slice(before).map(asked)
  }
  const subscription = client.listen(filter)
  exchange.last().acknowledge()
  await use()
  return { clock, exchange, client, use, subscription }
}

describe('A subscription makes the cache forget', () => {
  test.each<[string, JsonObject, readonly unknown[]]>([
    [toolsListChangedMethod, {}, ['tools/list']],
    [promptsListChangedMethod, {}, ['prompts/list']],
    [resourcesListChangedMethod, {}, ['resources/list', 'resources/templates/list']],
    [resourceUpdatedMethod, { uri: 'file:///a' }, ['file:///a']],
    [resourceUpdatedMethod, { uri: 'file:///a/b' }, ['file:///a/b']],
    [resourceUpdatedMethod, { uri: 'file:///a/b/c' }, ['file:///a/b', 'file:///a/b/c']],
    [resourceUpdatedMethod, { uri: 'file:///c' }, []],
    ['notifications/progress', {}, []],
  ])('at %s %j, before the event is read: %j [CCH-020]', async (method, params, stale) => {
    const { exchange, use, subscription } = await start()
    expect(await use()).toEqual([])
    exchange.last().notify(method, params)
    expect(await use()).toEqual(stale)
    await subscription.close()
  })

  test.each<[string, SubscriptionFilter, readonly unknown[]]>([
    [
      'lists',
      { toolsListChanged: true, resourcesListChanged: true },
      ['tools/list', 'resources/list', 'resources/templates/list'],
    ],
    ['a resource and its parts', { resourceSubscriptions: ['file:///a/b'] }, ['file:///a/b', 'file:///a/b/c']],
    ['nothing', {}, []],
  ])('after a gap all that it is about: %s', async (_title, filter, stale) => {
    const { exchange, use, subscription, clock } = await start(filter)
    exchange.last().end()
    await flushPromises()
    expect(await use()).toEqual([])
    clock.advance(1000)
    await flushPromises()
    expect(await use()).toEqual([])
    exchange.last().acknowledge()
    expect(await use()).toEqual(stale)
    await subscription.close()
  })

  test('nothing that is outside the acknowledged filter', async () => {
    const { exchange, use, subscription } = await start({ promptsListChanged: true })
    exchange.last().notify(toolsListChangedMethod)
    expect(await use()).toEqual([])
    await subscription.close()
  })

  test('nothing of another client of the same exchange', async () => {
    const { exchange, subscription } = await start()
    const other = createClient(exchange, hostInfo)
    await other.listTools()
    exchange.last().notify(toolsListChangedMethod)
    const before = exchange.received.length
    await other.listTools()
    expect(exchange.received).toHaveLength(before)
    await subscription.close()
  })
})

test('a change of one list does not affect a request for another list at that moment', async () => {
  let arrive = (): void => {}
  const gate = new Promise<void>((resolve) => void (arrive = resolve))
  const exchange = createStreamingExchange(async (received) => {
    await gate
    return answer(received)
  })
  const client = createClient(exchange, hostInfo)
  await using _ = client.listen(everything)
  exchange.last().acknowledge()
  const both = Promise.all([client.listTools(), client.listPrompts()])
  await flushPromises()
  exchange.last().notify(promptsListChangedMethod)
  arrive()
  await both
  await Promise.all([client.listTools(), client.listPrompts()])
  expect(exchange.received.map(asked)).toEqual(['tools/list', 'prompts/list', 'prompts/list'])
})
