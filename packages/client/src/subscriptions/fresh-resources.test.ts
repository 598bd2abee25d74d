import type { JsonObject } from '@x/schema'
import { manualClock } from '@tooling/vitest/manual-clock'
import { describe, expect, test } from 'vitest'
import { createCacheStore, createClient } from '../index.ts'
import { flushPromises } from '../testing/asking.ts'
import {
  allListsFilter,
  defaultScript,
  requestedItemOf,
  cacheableFields,
  createKeepFreshFixture,
} from '../testing/keeping-fresh.ts'
import { hostInfo } from '../testing/scripted-exchange.ts'
import { createStreamingExchange, resourceUpdatedMethod } from '../testing/streaming.ts'

describe('Keeping resources fresh', () => {
  const uris = (exchange: ReturnType<typeof createKeepFreshFixture>['exchange']): unknown =>
    exchange.streams
      .filter(({ call }) => !call.signal.aborted)
      .map(({ request }) => request.params?.notifications)
      .filter((filter) => JSON.stringify(filter) !== JSON.stringify(allListsFilter))

  test('listens to those that are kept, and reads those again that change', async () => {
    const { exchange, client, keepFresh, pass } = createKeepFreshFixture()
    await client.readResource('a:b')
    await client.readResource('a:c')
    const fresh = keepFresh({ resources: true })
    await pass()
    expect(uris(exchange)).toEqual([{ resourceSubscriptions: ['a:b', 'a:c'] }])
    exchange.last().acknowledge()
    for (let count = 0; count < 5; count += 1) exchange.last().notify(resourceUpdatedMethod, { uri: 'a:c/part' })
    expect(await pass()).toEqual(['a:c'])
    const before = exchange.received.length
    await client.readResource('a:c')
    expect(exchange.received).toHaveLength(before)
    await fresh.close()
    expect(uris(exchange)).toEqual([])
  })

  test('listens to one that is read since by another subscription, and closes the one before when that is open', async () => {
    const { exchange, client, keepFresh, pass } = createKeepFreshFixture()
    const fresh = keepFresh({ resources: true })
    await pass()
    expect(uris(exchange)).toEqual([])
    await client.readResource('a:b')
    await pass()
    exchange.last().acknowledge()
    await client.readResource('a:c')
    await client.readResource('a:d')
    await pass()
    expect(uris(exchange)).toEqual([
      { resourceSubscriptions: ['a:b'] },
      { resourceSubscriptions: ['a:b', 'a:c', 'a:d'] },
    ])
    // The next is wanted before this one is open.
    await client.readResource('a:e')
    await pass()
    expect(uris(exchange)).toEqual([
      { resourceSubscriptions: ['a:b'] },
      { resourceSubscriptions: ['a:b', 'a:c', 'a:d', 'a:e'] },
    ])
    exchange.last().acknowledge()
    await flushPromises()
    expect(uris(exchange)).toEqual([{ resourceSubscriptions: ['a:b', 'a:c', 'a:d', 'a:e'] }])
    await fresh.close()
  })

  test('listens to the last hundred, which servers take by default', async () => {
    const clock = manualClock()
    const exchange = createStreamingExchange(defaultScript)
    const client = createClient(exchange, {
      ...hostInfo,
      runtime: clock,
      cache: createCacheStore({ maxEntries: 2000 }).partition(''),
    })
    for (let index = 0; index < 1010; index += 1) await client.readResource(`a:${index}`)
    await using _ = client.keepFresh({ resources: true })
    clock.advance(1000)
    await flushPromises()
    expect(exchange.last().request.params?.notifications).toMatchObject({
      resourceSubscriptions: { length: 100, 0: 'a:910', 99: 'a:1009' },
    })
  })

  test('reads the others when one no longer exists, and reports it', async () => {
    const gone = new Set<unknown>()
    const { exchange, client, keepFresh, pass, errors } = createKeepFreshFixture((received) =>
      gone.has(received.params.uri) ? { error: { code: -32602, message: 'gone' } } : defaultScript(received),
    )
    for (const uri of ['a:b', 'a:c']) await client.readResource(uri)
    const fresh = keepFresh({ resources: true })
    await pass()
    exchange.last().acknowledge()
    gone.add('a:b')
    for (const uri of ['a:b', 'a:c']) exchange.last().notify(resourceUpdatedMethod, { uri })
    expect(await pass()).toEqual(['a:b', 'a:c'])
    expect(errors).toMatchObject([{ code: 'rpc', target: 'a:b' }])
    await fresh.close()
  })

  test('reads none of them on when the server cannot be reached', async () => {
    let isAway = false
    const { exchange, client, keepFresh, pass, errors } = createKeepFreshFixture((received) => {
      if (isAway) throw new Error('away')
      return defaultScript(received)
    })
    for (const uri of ['a:b', 'a:c']) await client.readResource(uri)
    const fresh = keepFresh({ resources: true })
    await pass()
    exchange.last().acknowledge()
    isAway = true
    for (const uri of ['a:b', 'a:c']) exchange.last().notify(resourceUpdatedMethod, { uri })
    expect(await pass()).toEqual(['a:b'])
    expect(errors).toMatchObject([{ code: 'transport' }])
    await fresh.close()
  })

  test('reads all of them again after changes may have been missed, and leaves alone one that asks for input', async () => {
    let asks = false
    const { exchange, client, keepFresh, pass, errors } = createKeepFreshFixture((received): JsonObject => {
      return asks
        ? { resultType: 'input_required', requestState: 's' }
        : { ...cacheableFields, contents: [], at: requestedItemOf(received) as string }
    })
    for (const uri of ['a:b', 'a:c']) await client.readResource(uri)
    const fresh = keepFresh({ resources: true })
    await pass()
    exchange.last().acknowledge()
    exchange.last().end()
    await pass()
    exchange.last().acknowledge()
    asks = true
    expect(await pass()).toEqual(['a:b', 'a:c'])
    expect(errors).toEqual([])
    await fresh.close()
  })
})
