import { type JsonObject, metaKeys, protocolVersion } from '@x/schema'
import { manualClock } from '@tooling/vitest/manual-clock'
import { describe, expect, test } from 'vitest'
import { type ClientOptions, createClient } from '../index.ts'
import { withClientConstants } from '../request/options.ts'
import { flushPromises } from '../testing/asking.ts'
import { hostInfo, createTextResult } from '../testing/scripted-exchange.ts'
import {
  collectItems,
  promptsListChangedMethod,
  resourcesListChangedMethod,
  createStreamingExchange,
  toolsListChangedMethod,
  resourceUpdatedMethod,
} from '../testing/streaming.ts'
import type { ListenOptions } from './subscription.ts'

const filter = {
  toolsListChanged: true,
  promptsListChanged: true,
  resourcesListChanged: true,
  resourceSubscriptions: ['file:///a', 'file:///b'],
} as const

function start(options: ListenOptions = {}, more: Partial<ClientOptions> = {}) {
  const clock = manualClock()
  const exchange = createStreamingExchange(() => createTextResult('hi'))
  const client = createClient(exchange, { ...hostInfo, runtime: clock, ...more })
  const subscription = client.listen(filter, options)
  return { clock, exchange, client, subscription, events: subscription[Symbol.asyncIterator]() }
}

const opened = { type: 'opened', notifications: filter, mayHaveMissedChanges: false }

describe('A subscription', () => {
  test('asks for its filter at the call, with what every request carries, and for no progress', async () => {
    const { exchange, subscription } = start({ meta: { traceparent: 'mine', [metaKeys.protocolVersion]: 'x' } })
    expect(exchange.streams).toHaveLength(1)
    expect(exchange.last().request).toMatchObject({
      method: 'subscriptions/listen',
      params: {
        notifications: filter,
        _meta: {
          traceparent: 'mine',
          [metaKeys.protocolVersion]: protocolVersion,
          [metaKeys.clientCapabilities]: {},
          [metaKeys.clientInfo]: hostInfo,
        },
      },
    })
    expect(exchange.last().request.params?._meta).not.toHaveProperty('progressToken')
    await subscription.close()
  })

  test('asks for nothing that is not true in the filter, and for each resource once', async () => {
    const exchange = createStreamingExchange()
    const client = createClient(exchange, hostInfo)
    const uris = ['a:b', 'a:b']
    await using _ = client.listen({ toolsListChanged: false, promptsListChanged: true, resourceSubscriptions: uris })
    expect(exchange.last().request.params?.notifications).toEqual({
      promptsListChanged: true,
      resourceSubscriptions: ['a:b'],
    })
  })

  test('reports that it is open, and every kind of change', async () => {
    const { exchange, events } = start()
    exchange.last().acknowledge()
    for (const method of [toolsListChangedMethod, promptsListChangedMethod, resourcesListChangedMethod])
      exchange.last().notify(method)
    exchange.last().notify(resourceUpdatedMethod, { uri: 'file:///b' })
    expect(await collectItems(events, 5)).toEqual([
      opened,
      { type: 'toolsListChanged' },
      { type: 'promptsListChanged' },
      { type: 'resourcesListChanged' },
      { type: 'resourceUpdated', uri: 'file:///b' },
    ])
    await events.return?.()
  })

  test('says which part of the filter the server honours and which it refuses, and passes on no more than that [SUB-005]', async () => {
    const { exchange, events } = start()
    const honoured = { promptsListChanged: true, resourceSubscriptions: ['file:///b'] }
    const refused = { toolsListChanged: true, resourcesListChanged: true, resourceSubscriptions: ['file:///a'] }
    exchange.last().acknowledge({ ...honoured, toolsListChanged: 'yes', resourcesListChanged: false, other: true })
    exchange.last().notify(toolsListChangedMethod)
    exchange.last().notify(resourceUpdatedMethod, { uri: 'file:///a' })
    exchange.last().notify(promptsListChangedMethod)
    expect(await collectItems(events, 2)).toEqual([
      { type: 'opened', notifications: honoured, refused, mayHaveMissedChanges: false },
      { type: 'promptsListChanged' },
    ])
    await events.return?.()
  })

  test.each<[string, JsonObject]>([
    ['more than was asked for', { promptsListChanged: true, resourceSubscriptions: ['a:c', 'a:b', 7, 'a:b'] }],
    ['nothing that can be read', { toolsListChanged: 1, resourceSubscriptions: 'a:c' }],
  ])('does not believe a server that acknowledges %s [SUB-005]', async (_title, notifications) => {
    const exchange = createStreamingExchange()
    const subscription = createClient(exchange, hostInfo).listen({ resourceSubscriptions: ['a:b'] })
    const events = subscription[Symbol.asyncIterator]()
    exchange.last().acknowledge(notifications)
    exchange.last().notify(promptsListChangedMethod)
    exchange.last().notify(resourceUpdatedMethod, { uri: 'a:c' })
    const [first] = await collectItems(events, 1)
    const uris = Array.isArray(notifications.resourceSubscriptions) ? { resourceSubscriptions: ['a:b'] } : {}
    const refused = 'resourceSubscriptions' in uris ? {} : { refused: { resourceSubscriptions: ['a:b'] } }
    expect(first).toEqual({ type: 'opened', notifications: uris, ...refused, mayHaveMissedChanges: false })
    const next = events.next()
    await subscription.close()
    expect(await next).toEqual({ done: true, value: undefined })
  })

  test('receives nothing before its acknowledgement, of another subscription, or that is invalid [SUB-008]', async () => {
    const { exchange, subscription, events } = start()
    const last = exchange.last()
    last.notify(toolsListChangedMethod)
    const foreign = { _meta: { [metaKeys.subscriptionId]: 99 } }
    last.call.notify({
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: { ...foreign, notifications: filter },
    })
    last.notify('notifications/subscriptions/acknowledged', { notifications: [] })
    last.acknowledge()
    last.call.notify({ jsonrpc: '2.0', method: toolsListChangedMethod, params: foreign })
    last.call.notify({
      jsonrpc: '2.0',
      method: toolsListChangedMethod,
      params: { _meta: { [metaKeys.subscriptionId]: String(last.id) } },
    })
    last.call.notify({ jsonrpc: '2.0', method: toolsListChangedMethod })
    last.notify('notifications/progress', { progressToken: last.id, progress: 1 })
    last.notify('__proto__')
    for (const params of [{}, { uri: 7 }, { uri: '' }, { uri: 'file:///c' }, { uri: 'file:///ab' }])
      last.notify(resourceUpdatedMethod, params)
    last.acknowledge({ toolsListChanged: true })
    last.notify(promptsListChangedMethod)
    expect(await collectItems(events, 2)).toEqual([opened, { type: 'promptsListChanged' }])
    const next = events.next()
    await subscription.close()
    expect((await next).done).toBe(true)
  })

  test('receives changes of the parts of its resource', async () => {
    const { exchange, events } = start()
    exchange.last().acknowledge()
    for (const uri of ['file:///a/x', 'file:///a#y', 'file:///ab/x'])
      exchange.last().notify(resourceUpdatedMethod, { uri })
    exchange.last().notify(resourceUpdatedMethod, { uri: `file:///b/${'x'.repeat(3000)}` })
    expect((await collectItems(events, 4)).slice(1)).toEqual([
      { type: 'resourceUpdated', uri: 'file:///a/x' },
      { type: 'resourceUpdated', uri: 'file:///a#y' },
      { type: 'resourceUpdated', uri: 'file:///b' },
    ])
    await events.return?.()
  })

  test('lasts without a limit of time once it is open [CAN-006]', async () => {
    const { clock, exchange, events } = start({}, { timeoutMs: 10 })
    exchange.last().acknowledge()
    expect(clock.waiting).toBe(0)
    clock.advance(1_000_000_000)
    exchange.last().notify(toolsListChangedMethod)
    expect((await collectItems(events, 2))[1]).toEqual({ type: 'toolsListChanged' })
    expect(exchange.streams).toHaveLength(1)
    await events.return?.()
  })

  test('runs beside others and beside calls, each with an id of its own, and each receives its own [SUB-008 BAS-004]', async () => {
    const { exchange, client, events } = start()
    const other = client.listen(filter)
    const others = other[Symbol.asyncIterator]()
    const [one, two] = exchange.streams
    two?.acknowledge()
    one?.acknowledge()
    two?.notify(toolsListChangedMethod)
    expect(await client.callTool('greet')).toMatchObject({ content: [{ text: 'hi' }] })
    one?.notify(promptsListChangedMethod)
    expect([await collectItems(events, 2), await collectItems(others, 2)]).toEqual([
      [opened, { type: 'promptsListChanged' }],
      [opened, { type: 'toolsListChanged' }],
    ])
    const ids = [...exchange.streams, ...exchange.received].map(({ request }) => request.id)
    expect(new Set(ids).size).toBe(3)
    await Promise.all([events.return?.(), other.close()])
  })

  test('speaks the revision that the server names, with a new id, and receives its notifications alone [VER-002]', async () => {
    const { exchange, events } = start({}, withClientConstants({ versions: ['2031-01-01', '2026-07-28'] }))
    const refused = exchange.last()
    refused.refuse({ code: -32022, message: 'no', data: { supported: ['2026-07-28'], requested: '2031-01-01' } })
    await flushPromises()
    expect(exchange.streams).toHaveLength(2)
    expect(exchange.last().request.params?._meta).toMatchObject({ [metaKeys.protocolVersion]: '2026-07-28' })
    exchange.last().notify('notifications/subscriptions/acknowledged', {
      notifications: filter,
      _meta: { [metaKeys.subscriptionId]: refused.id },
    })
    exchange.last().acknowledge({ toolsListChanged: true })
    const accepted = { type: 'opened', notifications: { toolsListChanged: true }, mayHaveMissedChanges: false }
    expect(await collectItems(events, 1)).toMatchObject([accepted])
    await events.return?.()
  })
})

describe('A subscription ends', () => {
  test.each<[string, (of: ReturnType<typeof start>) => unknown]>([
    ['when it is closed', ({ subscription }) => subscription.close()],
    ['with its scope', ({ subscription }) => subscription[Symbol.asyncDispose]()],
    ['when its loop is left', ({ events }) => events.return?.()],
  ])('%s: the request is cancelled, waiting changes are dropped, and nothing is left', async (_title, end) => {
    const running = start()
    const { exchange, events, clock } = running
    exchange.last().acknowledge()
    exchange.last().notify(toolsListChangedMethod)
    await end(running)
    expect(exchange.last().call.signal.aborted).toBe(true)
    expect(await events.next()).toEqual({ done: true, value: undefined })
    expect(clock.waiting).toBe(0)
    exchange.last().notify(promptsListChangedMethod)
    clock.advance(1_000_000)
    await flushPromises()
    expect(exchange.streams).toHaveLength(1)
  })

  test('when a loop is left by break', async () => {
    const { exchange, subscription } = startUnread()
    exchange.last().acknowledge()
    for await (const event of subscription) {
      expect(event).toEqual(opened)
      break
    }
    expect(exchange.last().call.signal.aborted).toBe(true)
  })

  test('with or without a reader that waits for the next change, however often it is closed', async () => {
    const { exchange, subscription, events } = start()
    exchange.last().acknowledge()
    await events.next()
    const [one, two] = [events.next(), events.next()]
    await Promise.all([subscription.close(), subscription.close()])
    expect([await one, await two]).toEqual(Array(2).fill({ done: true, value: undefined }))
  })

  test.each([
    ['before it is open', false],
    ['while it is open', true],
  ])('with the reason of its signal, %s', async (_title, isOpen) => {
    const controller = new AbortController()
    const { exchange, events, clock } = start({ signal: controller.signal })
    if (isOpen) {
      exchange.last().acknowledge()
      exchange.last().notify(toolsListChangedMethod)
    }
    const reason = { why: 'the user left' }
    controller.abort(reason)
    await flushPromises()
    await expect(events.next()).rejects.toBe(reason)
    expect(exchange.last().call.signal.reason).toBe(reason)
    expect((await events.next()).done).toBe(true)
    expect(clock.waiting).toBe(0)
  })

  test('with the reason of its signal while a pause is on', async () => {
    const controller = new AbortController()
    const { exchange, events, clock } = start({ signal: controller.signal })
    exchange.last().acknowledge()
    exchange.last().end()
    await collectItems(events, 2)
    expect(clock.waiting).toBe(1)
    controller.abort('stop')
    await expect(events.next()).rejects.toBe('stop')
    expect(clock.waiting).toBe(0)
  })

  test('at once when its signal was aborted before: nothing is sent', async () => {
    const { exchange, events } = start({ signal: AbortSignal.abort('late') })
    await expect(events.next()).rejects.toBe('late')
    expect(exchange.streams).toHaveLength(0)
  })

  test('and leaves no listener on a signal that lives longer', async () => {
    const { signal } = new AbortController()
    const warnings: unknown[] = []
    const listen = (warning: unknown): void => void warnings.push(warning)
    process.on('warning', listen)
    for (let count = 0; count < 50; count += 1) await start({ signal }).subscription.close()
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', listen)
    expect(warnings).toEqual([])
  })
})

test('a subscription is read once: a second loop is an error that says so', async () => {
  const { subscription } = start()
  expect(() => subscription[Symbol.asyncIterator]()).toThrow(/read once/)
  await subscription.close()
})

test('a subscription without a reader fails without being an unhandled rejection', async () => {
  const { exchange, subscription } = startUnread()
  exchange.last().refuse({ code: -32601, message: 'no' })
  await flushPromises()
  await subscription.close()
  expect(exchange.streams).toHaveLength(1)
})

function startUnread() {
  const exchange = createStreamingExchange()
  return { exchange, subscription: createClient(exchange, hostInfo).listen(filter) }
}
