import type { WireError } from '@x/schema'
import { manualClock } from '@tooling/vitest/manual-clock'
import { describe, expect, test } from 'vitest'
import { createClient } from '../index.ts'
import { flushPromises } from '../testing/asking.ts'
import { hostInfo } from '../testing/scripted-exchange.ts'
import { collectItems, createStreamingExchange, toolsListChangedMethod } from '../testing/streaming.ts'
import type { ListenOptions } from './subscription.ts'

const filter = { toolsListChanged: true } as const
const opened = { type: 'opened', notifications: filter, mayHaveMissedChanges: false }
const again = { ...opened, mayHaveMissedChanges: true }

function start(options: ListenOptions = {}) {
  const clock = manualClock()
  const exchange = createStreamingExchange()
  const client = createClient(exchange, { ...hostInfo, runtime: clock })
  const subscription = client.listen(filter, options)
  const events = subscription[Symbol.asyncIterator]()
  /** Waits for the interruption that comes next, and for its pause. Gives how long that was. */
  const sitOut = async (): Promise<number> => {
    const { value } = await events.next()
    if (value?.type !== 'interrupted') throw new Error(`no interruption: ${JSON.stringify(value)}`)
    clock.advance(value.retryInMs)
    await flushPromises()
    return value.retryInMs
  }
  return { clock, exchange, events, sitOut }
}

/** What a transport rejects with. */
const broken = (details: object = {}): Error => Object.assign(new Error('the connection broke'), details)

describe('A stream that ended is opened again', () => {
  test('after it broke: the error is reported, and that changes were missed [SUB-011]', async () => {
    const { exchange, events, clock } = start()
    exchange.last().acknowledge()
    const cause = broken()
    exchange.last().fail(cause)
    const [, interrupted] = await collectItems(events, 2)
    expect(interrupted).toMatchObject({
      type: 'interrupted',
      error: { code: 'transport', method: 'subscriptions/listen', cause },
      retryInMs: expect.any(Number),
    })
    expect(exchange.streams).toHaveLength(1)
    clock.advance(1000)
    await flushPromises()
    expect(exchange.streams.map(({ request }) => request.params?.notifications)).toEqual([filter, filter])
    exchange.last().acknowledge()
    exchange.last().notify(toolsListChangedMethod)
    expect(await collectItems(events, 2)).toEqual([again, { type: 'toolsListChanged' }])
    await events.return?.()
  })

  test('within a second after a graceful end, which is not an error', async () => {
    const { exchange, events, clock } = start()
    exchange.last().acknowledge()
    exchange.last().end()
    const [, interrupted] = await collectItems(events, 2)
    expect(interrupted).toEqual({ type: 'interrupted', retryInMs: expect.any(Number) })
    clock.advance(1000)
    await flushPromises()
    exchange.last().acknowledge()
    expect(await collectItems(events, 1)).toEqual([again])
    await events.return?.()
  })

  test('under a new id: late notifications of the old one are ignored', async () => {
    const { exchange, events, sitOut } = start()
    const first = exchange.last()
    first.acknowledge()
    await events.next()
    first.end()
    await sitOut()
    const second = exchange.last()
    expect(second.id).not.toBe(first.id)
    second.acknowledge()
    first.notify(toolsListChangedMethod)
    second.notify(toolsListChangedMethod)
    expect(await collectItems(events, 2)).toEqual([again, { type: 'toolsListChanged' }])
    second.end()
    expect((await events.next()).value?.type).toBe('interrupted')
    await events.return?.()
  })

  test('when it could not be opened at all; then something may have been missed as well', async () => {
    const { exchange, events, sitOut } = start()
    exchange.last().fail(broken())
    await sitOut()
    exchange.last().acknowledge()
    expect(await collectItems(events, 1)).toEqual([again])
    await events.return?.()
  })

  test('when it ended before its acknowledgement, which is an error', async () => {
    const { exchange, events } = start()
    exchange.last().end()
    expect(await collectItems(events, 1)).toMatchObject([
      { type: 'interrupted', error: { code: 'invalid_result', message: expect.stringContaining('acknowledged') } },
    ])
    await events.return?.()
  })

  test('when no acknowledgement comes in time, and the request is cancelled [CAN-007 CAN-008]', async () => {
    const { exchange, events, clock } = start()
    clock.advance(59_999)
    expect(exchange.last().call.signal.aborted).toBe(false)
    clock.advance(1)
    expect(exchange.last().call.signal.aborted).toBe(true)
    expect(await collectItems(events, 1)).toMatchObject([
      { error: { code: 'timeout', message: expect.stringContaining('no acknowledgement within 60000 ms') } },
    ])
    await events.return?.()
  })

  test('and the time for the acknowledgement is the minute that every call has by default [CAN-006]', async () => {
    const { exchange, events, clock } = start()
    clock.advance(59_999)
    exchange.last().notify('notifications/progress', { progressToken: exchange.last().id, progress: 1 })
    expect(exchange.last().call.signal.aborted).toBe(false)
    clock.advance(1)
    expect(exchange.last().call.signal.aborted).toBe(true)
    await events.return?.()
  })
})

describe('The pause before a stream is opened again', () => {
  test('doubles in a row, less a random half, up to its bound', async () => {
    const { exchange, events, sitOut } = start({ reopen: { pauseMs: 100, maxPauseMs: 1000 } })
    const pauses: number[] = []
    for (let round = 0; round < 6; round += 1) {
      exchange.last().fail(broken())
      pauses.push(await sitOut())
    }
    const bounds = [100, 200, 400, 800, 1000, 1000]
    for (const [index, longest] of bounds.entries()) {
      expect(pauses[index]).toBeLessThanOrEqual(longest)
      expect(pauses[index]).toBeGreaterThanOrEqual(longest / 2)
    }
    expect(pauses).not.toEqual(bounds)
    await events.return?.()
  })

  test('is the first one again after a stream that lasted, and only then', async () => {
    const { exchange, events, sitOut, clock } = start({ reopen: { pauseMs: 100, maxPauseMs: 1000 } })
    const pauses: number[] = []
    for (const openMs of [0, 999, 999, 1000, 0]) {
      exchange.last().acknowledge()
      await events.next()
      clock.advance(openMs)
      exchange.last().end()
      pauses.push(await sitOut())
    }
    const longest = pauses.map((ms) => [100, 200, 400, 800].find((bound) => ms <= bound))
    expect(longest).toEqual([100, 200, 400, 100, 200])
    await events.return?.()
  })

  test.each([
    [5000, 5000],
    [3_600_000, 30_000],
  ])('is as long as a server asks that wants %d ms, within its bound', async (retryAfterMs, ms) => {
    const { exchange, sitOut, events } = start()
    exchange.last().fail(broken({ status: 503, retryAfterMs }))
    expect(await sitOut()).toBe(ms)
    await events.return?.()
  })
})

describe('A subscription is given up', () => {
  test.each<[string, WireError]>([
    ['the server has no subscriptions', { code: -32601, message: 'no' }],
    ['the server does not take the filter', { code: -32602, message: 'no' }],
    ['the request is none', { code: -32600, message: 'no' }],
    ['the headers are wrong', { code: -32020, message: 'no' }],
    ['the server wants another capability', { code: -32021, message: 'no' }],
  ])('when %s', async (_title, error) => {
    const { exchange, events, clock } = start()
    exchange.last().refuse(error)
    await expect(events.next()).rejects.toMatchObject({ code: 'rpc', rpc: error, method: 'subscriptions/listen' })
    expect(await events.next()).toEqual({ done: true, value: undefined })
    expect([clock.waiting, exchange.streams.length]).toEqual([0, 1])
  })

  test('when there is no revision in common [VER-002]', async () => {
    const { exchange, events } = start()
    exchange.last().refuse({ code: -32022, message: 'no', data: { supported: ['2025-11-25'], requested: 'x' } })
    await expect(events.next()).rejects.toMatchObject({ code: 'unsupported_version' })
  })

  test.each([
    ['asks for credentials', { status: 401 }],
    ['forbids it', { status: 403 }],
    ['cannot be started', { code: 'spawn' }],
    ['is no server', { code: 'probe' }],
    ['ended too often', { code: 'restarts' }],
  ])('when the transport says that the other side %s', async (_title, details) => {
    const { exchange, events, clock } = start()
    exchange.last().acknowledge()
    const cause = broken(details)
    exchange.last().fail(cause)
    expect(await collectItems(events, 1)).toEqual([opened])
    await expect(events.next()).rejects.toMatchObject({ code: 'transport', cause })
    expect(clock.waiting).toBe(0)
  })

  test('when the exchange was closed here', async () => {
    const clock = manualClock()
    const closing = new AbortController()
    const exchange = createStreamingExchange()
    const subscription = createClient({ exchange, closed: closing.signal }, { ...hostInfo, runtime: clock }).listen(
      filter,
    )
    exchange.last().acknowledge()
    closing.abort()
    exchange.last().fail(broken({ code: 'closed' }))
    const events = subscription[Symbol.asyncIterator]()
    expect(await collectItems(events, 1)).toEqual([opened])
    await expect(events.next()).rejects.toMatchObject({ code: 'transport' })
    expect(clock.waiting).toBe(0)
  })

  test.each([
    ['an internal error', { code: -32603, message: 'too many streams' }],
    ['an error of its own', { code: 1, message: 'busy' }],
  ])('but not when the server answers %s', async (_title, error) => {
    const { exchange, events, sitOut } = start()
    exchange.last().refuse(error)
    await sitOut()
    exchange.last().acknowledge()
    expect(await collectItems(events, 1)).toEqual([again])
    await events.return?.()
  })

  test('when its attempts are used up, with the last error; a stream that lasted gives them back', async () => {
    const { exchange, events, sitOut, clock } = start({ reopen: { attempts: 2 } })
    exchange.last().fail(broken())
    await sitOut()
    exchange.last().acknowledge()
    await events.next()
    clock.advance(30_000)
    for (let attempt = 0; attempt < 2; attempt += 1) {
      exchange.last().fail(broken())
      await sitOut()
    }
    const cause = broken()
    exchange.last().fail(cause)
    await expect(events.next()).rejects.toMatchObject({ code: 'transport', cause })
    expect([clock.waiting, exchange.streams.length]).toEqual([0, 4])
  })

  test('with its stream if reopening is off: a graceful end is not an error', async () => {
    const graceful = start({ reopen: false })
    graceful.exchange.last().acknowledge()
    graceful.exchange.last().notify(toolsListChangedMethod)
    graceful.exchange.last().end()
    expect(await collectItems(graceful.events, 3)).toEqual([opened, { type: 'toolsListChanged' }])
    const abrupt = start({ reopen: false })
    abrupt.exchange.last().fail(broken())
    await expect(abrupt.events.next()).rejects.toMatchObject({ code: 'transport' })
  })
})
