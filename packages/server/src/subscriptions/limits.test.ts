import { manualClock } from '@tooling/vitest/manual-clock'
import type { Principal } from '@x/exchange'
import { errorCodes } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { createServer, resourceTemplate, type ServerDefinition, type SubscriptionOptions } from '../index.ts'
import { errorOf } from '../testing/ask.ts'
import {
  waitForListenResult,
  createManualBus,
  acknowledgedFilterOf,
  openListenStream,
  flushAsyncWork,
} from '../testing/listening.ts'

const about = { name: 'demo', version: '1.0.0' }
const tools = { toolsListChanged: true }
const note = resourceTemplate('note://{id}', { name: 'note', read: () => '' })
const serve = (subscriptions: SubscriptionOptions = {}, limits: ServerDefinition['limits'] = {}) =>
  createServer({ ...about, tools: [], resourceTemplates: [note], subscriptions, limits })
/** Addresses of callers, each of which has a share of its own. */
const addresses = (count: number) => Array.from({ length: count }, (_, at) => `192.0.${at >> 8}.${at & 255}`)
const refused = (server: ReturnType<typeof serve>, principal?: Principal, clientAddress?: string) =>
  errorOf(server, 'subscriptions/listen', { notifications: tools }, { principal, clientAddress })

describe('how many streams may be open', () => {
  test('is limited to 10,000 for the server, and one that ends makes room', async () => {
    const server = serve()
    const streams = []
    for (const clientAddress of addresses(100)) {
      for (let stream = 0; stream < 100; stream++)
        streams.push(await openListenStream(server, tools, { clientAddress }))
    }
    const last = () => refused(server, undefined, '198.51.100.1')
    expect(await last()).toMatchObject({
      code: errorCodes.internal,
      message: 'The server has reached its limit of streams for all callers: try again in 1000 ms',
      data: { reason: 'overloaded', limit: 'streams', max: 10_000, retryAfterMs: 1000 },
    })
    streams[0]?.abort()
    await streams[0]?.response
    await openListenStream(server, tools, { clientAddress: '198.51.100.1' })
    expect(await last()).toMatchObject({ code: errorCodes.internal })
  })

  test('is limited for each principal, and no principal takes the place of another', async () => {
    const server = serve({}, { streams: 2 })
    const ada: Principal = { issuer: 'https://a.example', subject: 'ada', client: 'host' }
    const opened = [
      await openListenStream(server, tools, { principal: ada }),
      await openListenStream(server, tools, { principal: ada }),
    ]
    expect(await refused(server, { ...ada, scopes: ['more'] })).toMatchObject({
      code: errorCodes.internal,
      message: 'You have reached streams, which is 2 for each caller: end a subscription, or try again in 1000 ms',
      data: { reason: 'quota', limit: 'streams', max: 2, retryAfterMs: 1000 },
    })
    const others: Principal[] = [
      { ...ada, issuer: 'https://b.example' },
      { ...ada, subject: 'bob' },
      { ...ada, client: 'other' },
      { subject: 'ada' },
      { subject: '["https://a.example","ada","host"]' },
    ]
    for (const principal of others) await openListenStream(server, tools, { principal })
    opened[0]?.abort()
    await opened[0]?.response
    await openListenStream(server, tools, { principal: ada })
    expect(await refused(server, ada)).toMatchObject({ code: errorCodes.internal })
  })

  test('is limited for each address of callers without a principal', async () => {
    const server = serve({}, { streams: 1 })
    const first = await openListenStream(server, tools, { clientAddress: '2001:db8:0:1::1' })
    // Another address of the same customer.
    expect(await refused(server, undefined, '2001:db8:0:1::2')).toMatchObject({ data: { reason: 'quota' } })
    await openListenStream(server, tools, { clientAddress: '2001:db8:0:2::1' })
    await openListenStream(server, tools, { clientAddress: '192.0.2.1', principal: { subject: 'ada' } })
    await openListenStream(server, tools, { clientAddress: '192.0.2.1' })
    await openListenStream(server, tools)
    expect(await refused(server)).toMatchObject({ data: { reason: 'quota' } })
    first.abort()
    await first.response
    await openListenStream(server, tools, { clientAddress: '2001:db8:0:1::2' })
  })

  test('leaves 9,900 of 10,000 streams to others by default', async () => {
    const server = serve({})
    for (let stream = 0; stream < 100; stream++) await openListenStream(server, tools)
    expect(await refused(server)).toMatchObject({ data: { limit: 'streams', max: 100 } })
    await openListenStream(server, tools, { clientAddress: '192.0.2.1' })
  })

  test('counts those that wait for the bus, and not those that it failed', async () => {
    const bus = createManualBus()
    const server = serve({ bus }, { streams: 1 })
    const waiting = errorOf(server, 'subscriptions/listen', { notifications: tools })
    expect(await refused(server)).toMatchObject({ data: { reason: 'quota', limit: 'streams' } })
    bus.attempts[0]?.fail(new Error('away'))
    expect(await waiting).toMatchObject({ data: { reason: 'unavailable', begun: false } })
    const next = openListenStream(server, tools)
    bus.attempts[1]?.open()
    expect(acknowledgedFilterOf(await next)).toEqual(tools)
  })
})

describe('how many URIs a filter may hold', () => {
  const uris = (count: number) => Array.from({ length: count }, (_, index) => `note://${index}`)

  test('is limited to 100', async () => {
    const limit = 100
    const server = serve()
    const full = { resourceSubscriptions: uris(limit) }
    expect(acknowledgedFilterOf(await openListenStream(server, full))).toEqual(full)
    const over = { notifications: { resourceSubscriptions: uris(limit + 1) } }
    expect(await errorOf(server, 'subscriptions/listen', over)).toMatchObject({
      code: errorCodes.invalidParams,
      message: expect.stringContaining(`${limit + 1} URIs; give at most ${limit}`),
    })
  })
})

describe('how many lists and URIs all streams may have together', () => {
  const three = { toolsListChanged: true, resourceSubscriptions: ['note://a', 'note://b'] }

  const hundred = { resourceSubscriptions: Array.from({ length: 100 }, (_, index) => `note://${index}`) }
  /** Opens streams of one caller, each with 100 URIs. */
  const openMany = async (server: ReturnType<typeof serve>, count: number, clientAddress?: string) => {
    const streams = []
    for (let stream = 0; stream < count; stream++)
      streams.push(await openListenStream(server, hundred, { clientAddress }))
    return streams
  }

  test('is limited for each caller: those that run continue, and one that ends makes room', async () => {
    const bus = createManualBus({ atOnce: true })
    const server = serve({ bus }, { streams: 200 })
    const [first, second] = await openMany(server, 100)
    expect(await refused(server)).toMatchObject({
      data: { reason: 'quota', limit: 'topics', max: 10_000, retryAfterMs: 1000 },
    })
    expect(server.ledger.usedBy('streams', 'local')).toBe(100)
    bus.change('resource:note://1')
    expect([first?.changes(), second?.changes()]).toEqual([['note://1'], ['note://1']])
    // A stream without topics takes none.
    await openListenStream(server, {})
    await openListenStream(server, three, { clientAddress: '192.0.2.1' })
    first?.abort()
    await first?.response
    await openListenStream(server, three)
  })

  test('counts accepted topics, and each URI once', async () => {
    const server = serve()
    await openListenStream(server, {
      resourceSubscriptions: ['note://a', 'note://a', 'other://b'],
      promptsListChanged: true,
    })
    expect(server.ledger.usedInAll('topics')).toBe(1)
  })

  test('is limited to 100,000 for the server', async () => {
    const server = serve()
    for (const address of addresses(10)) await openMany(server, 100, address)
    expect(await refused(server)).toMatchObject({ data: { reason: 'overloaded', limit: 'topics', max: 100_000 } })
  })

  test('leaves nothing on the ledger when all streams have ended', async () => {
    const server = serve()
    for (const stream of await openMany(server, 3)) {
      stream.abort()
      await stream.response
    }
    expect([server.ledger.usedInAll('streams'), server.ledger.usedInAll('topics')]).toEqual([0, 0])
  })
})

describe('a principal whose proof ends', () => {
  const serveUntil = () => {
    const clock = manualClock()
    let skew = 0
    const wallClock = () => 1_000_000 + clock.monotonicNow() + skew
    const bus = createManualBus({ atOnce: true })
    const server = createServer({
      ...about,
      tools: [],
      subscriptions: { bus },
      runtime: { ...clock, now: wallClock },
    })
    return { clock, bus, server, setBack: (ms: number) => (skew -= ms) }
  }

  test('has the stream until then, and it ends in good order', async () => {
    const { clock, bus, server } = serveUntil()
    const principal = { subject: 'ada', expiresAt: 1_005_000 }
    const stream = await openListenStream(server, tools, { principal })
    clock.advance(4999)
    bus.change('tools')
    expect(stream.changes()).toEqual(['tools'])
    clock.advance(1)
    expect(await waitForListenResult(stream)).toMatchObject({ resultType: 'complete' })
    expect([bus.listeners, clock.waiting]).toEqual([0, 0])
  })

  test('has it until then also by a clock that was set, and further away than a timer reaches', async () => {
    const { clock, bus, server, setBack } = serveUntil()
    const days = 40 * 24 * 3600 * 1000
    const stream = await openListenStream(server, tools, { principal: { subject: 'ada', expiresAt: 1_000_000 + days } })
    clock.advance(days - 1000)
    setBack(5000)
    clock.advance(5999)
    await flushAsyncWork()
    expect(bus.listeners).toBe(1)
    clock.advance(1)
    expect(await waitForListenResult(stream)).toMatchObject({ resultType: 'complete' })
  })

  test('has no timer left when the stream ends before', async () => {
    const { clock, server } = serveUntil()
    const stream = await openListenStream(server, tools, { principal: { subject: 'ada', expiresAt: 2_000_000 } })
    expect(clock.waiting).toBe(1)
    stream.abort()
    await stream.response
    expect(clock.waiting).toBe(0)
  })

  test.each([[1_000_000], [0], [Number.NaN], [Number.NEGATIVE_INFINITY]])(
    'at %d, which is past, is refused',
    async (expiresAt) => {
      const { bus, server } = serveUntil()
      expect(await refused(server, { subject: 'ada', expiresAt })).toMatchObject({
        code: errorCodes.invalidRequest,
        message: expect.stringContaining('expired'),
      })
      expect(bus.attempts).toEqual([])
    },
  )

  test('while the bus opens is acknowledged, and has the end of it at once', async () => {
    const clock = manualClock()
    const bus = createManualBus()
    const server = createServer({
      ...about,
      tools: [],
      subscriptions: { bus },
      runtime: { ...clock, now: () => clock.monotonicNow() },
    })
    const stream = openListenStream(server, tools, { principal: { subject: 'ada', expiresAt: 10 } })
    clock.advance(10)
    bus.attempts[0]?.open()
    expect(await waitForListenResult(await stream)).toMatchObject({ resultType: 'complete' })
    expect((await stream).messages).toHaveLength(1)
  })
})
