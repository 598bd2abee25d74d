import { manualClock } from '@tooling/vitest/manual-clock'
import { describe, expect, test } from 'vitest'
import { createClient } from '../index.ts'
import { flushPromises } from '../testing/asking.ts'
import { hostInfo } from '../testing/scripted-exchange.ts'
import {
  collectItems,
  promptsListChangedMethod,
  createStreamingExchange,
  toolsListChangedMethod,
  resourceUpdatedMethod,
} from '../testing/streaming.ts'
import type { SubscriptionEvent } from '../caching/changes.ts'

const filter = {
  toolsListChanged: true,
  promptsListChanged: true,
  resourcesListChanged: true,
  resourceSubscriptions: ['file:///a', 'file:///b'],
} as const

function start() {
  const clock = manualClock()
  const exchange = createStreamingExchange()
  const subscription = createClient(exchange, { ...hostInfo, runtime: clock }).listen(filter)
  return { clock, exchange, subscription, events: subscription[Symbol.asyncIterator]() }
}

const opened = { type: 'opened', notifications: filter, mayHaveMissedChanges: false }

describe('Who reads slowly', () => {
  test('receives each change once, in the order of the first', async () => {
    const { exchange, events } = start()
    exchange.last().acknowledge()
    for (let round = 0; round < 1000; round += 1) {
      exchange.last().notify(toolsListChangedMethod)
      exchange.last().notify(resourceUpdatedMethod, { uri: 'file:///a' })
      exchange.last().notify(resourceUpdatedMethod, { uri: 'file:///b' })
    }
    exchange.last().notify(promptsListChangedMethod)
    expect(await collectItems(events, 5)).toEqual([
      opened,
      { type: 'toolsListChanged' },
      { type: 'resourceUpdated', uri: 'file:///a' },
      { type: 'resourceUpdated', uri: 'file:///b' },
      { type: 'promptsListChanged' },
    ])
    exchange.last().notify(toolsListChangedMethod)
    expect(await collectItems(events, 1)).toEqual([{ type: 'toolsListChanged' }])
    await events.return?.()
  })

  test('keeps a bounded number of parts of resources, and past it receives the resource', async () => {
    const { exchange, events, subscription } = start()
    exchange.last().acknowledge()
    for (let part = 0; part < 5000; part += 1)
      exchange.last().notify(resourceUpdatedMethod, { uri: `file:///a/${part}` })
    exchange.last().end()
    const seen: SubscriptionEvent[] = []
    for (;;) {
      const { value } = await events.next()
      if (value === undefined || value.type === 'interrupted') break
      seen.push(value)
    }
    expect(seen.length).toBeLessThan(1100)
    expect(seen.at(-1)).toEqual({ type: 'resourceUpdated', uri: 'file:///a' })
    await subscription.close()
  })

  test('receives a reopened stream in place of all waiting changes', async () => {
    const { exchange, events, clock } = start()
    for (let round = 0; round < 100; round += 1) {
      exchange.last().acknowledge()
      exchange.last().notify(toolsListChangedMethod)
      exchange.last().end()
      await flushPromises()
      clock.advance(30_000)
      await flushPromises()
    }
    exchange.last().acknowledge()
    exchange.last().notify(promptsListChangedMethod)
    expect(await collectItems(events, 2)).toEqual([
      { ...opened, mayHaveMissedChanges: true },
      { type: 'promptsListChanged' },
    ])
    await events.return?.()
  })
})
