import { expect, test } from 'vitest'
import type { ChangeBus } from '../../src/bus/change-bus.ts'
import type { NetworkBusOptions } from '../../src/bus/network-bus.ts'
import type { Log } from '../../src/log.ts'
import { type Fleet, keepsBusContract } from './bus-contract.ts'
import { hearing, passMarker } from './hearing.ts'

/** A real server with a bus on it, in a test's hand. */
export interface WireUnderTest {
  /** A bus of another instance, on the channel `service` or the one that is named. */
  readonly bus: (options?: NetworkBusOptions & { channel?: string }) => ChangeBus
  /** Sends a text on the channel `service` past every bus. */
  readonly sendRaw: (text: string) => Promise<unknown>
  /** Breaks every connection that listens. */
  readonly breakListeners: () => Promise<unknown>
  /** How many connections listen. */
  readonly countListeners: () => Promise<number>
  readonly stopServer: () => Promise<void>
  readonly startServer: () => Promise<void>
  /** Makes the connections that listen silent without closing them. */
  readonly freeze: () => Promise<void>
  readonly thaw: () => Promise<void>
  /** The longest message. */
  readonly maxBytes: number
}

const patient = { timeout: 20_000, interval: 20 }

/** What every bus over a network must do, besides the contract of all buses. */
export function keepsWireContract(wire: () => WireUnderTest): void {
  let fleet: Fleet | undefined
  keepsBusContract(() => {
    const errors: unknown[] = []
    const log: Log = ({ err }) => void errors.push(err)
    const { bus } = wire()
    fleet ??= { one: bus({ log }), other: bus({ log }), third: bus({ log }), errors }
    return fleet
  })
  holdsOneConnection(wire)
  comesBack(wire)
  noticesSilence(wire)
  keepsToItsBounds(wire)
  keepsToItsChannel(wire)
}

/** However many listen, one connection does. */
function holdsOneConnection(wire: () => WireUnderTest): void {
  test('one connection listens however many listeners there are, and none after the last', async () => {
    const { bus, countListeners } = wire()
    await expect.poll(countListeners, patient).toBe(0)
    const one = bus()
    const all = await Promise.all(Array.from({ length: 20 }, () => hearing(one)))
    expect(await countListeners()).toBe(1)
    for (const { stop } of all) stop()
    await expect.poll(countListeners, patient).toBe(0)
  })

  test('who listens anew while the last connection closes hears each change once', async () => {
    const { bus, countListeners } = wire()
    const one = bus()
    for (let round = 0; round < 10; round++) {
      const before = await hearing(one)
      before.stop()
      const after = await hearing(one)
      const marker = await passMarker(one, [after])
      expect([before.heard, after.topics()]).toEqual([[], [marker]])
      after.stop()
    }
    await expect.poll(countListeners, patient).toBe(0)
  })
}

/** What breaks is mended, and told. */
function comesBack(wire: () => WireUnderTest): void {
  test('a broken connection comes back by itself: everybody is told of a gap, and then of changes', async () => {
    const { bus, breakListeners, countListeners } = wire()
    const errors: unknown[] = []
    const [one, other] = [bus({ log: ({ err }) => errors.push(err) }), bus()]
    const all = [await hearing(one), await hearing(one), await hearing(other)]
    await breakListeners()
    for (const { topics } of all) await expect.poll(topics, patient).toEqual(['gap'])
    const marker = await passMarker(other, all)
    for (const { topics, stop } of all) {
      expect(topics()).toEqual(['gap', marker])
      stop()
    }
    expect(errors).toEqual([expect.objectContaining({ name: 'BusError', code: 'unavailable' })])
    await expect.poll(countListeners, patient).toBe(0)
  })

  test('while the server is away publishing and listening reject in time; when it is back everybody is told of a gap', async () => {
    const { bus, stopServer, startServer, countListeners } = wire()
    const [one, other] = [bus({ timeoutMs: 1_000 }), bus({ timeoutMs: 1_000 })]
    const listener = await hearing(one)
    await stopServer()
    const away = { name: 'BusError', code: 'unavailable' }
    await expect(one.publish({ topic: 'lost' })).rejects.toMatchObject(away)
    await expect(hearing(one)).rejects.toMatchObject(away)
    await expect(hearing(other)).rejects.toMatchObject(away)
    await startServer()
    await expect.poll(listener.topics, patient).toContain('gap')
    const late = await hearing(other)
    await expect.poll(() => one.publish({ topic: 'back' }).then(() => 'sent', String), patient).toBe('sent')
    await passMarker(one, [listener, late])
    expect(listener.topics()).not.toContain('lost')
    listener.stop()
    late.stop()
    await expect.poll(countListeners, patient).toBe(0)
  }, 60_000)

  test('a ping rejects while the server is away, and resolves when it is back [UNA-004]', async () => {
    const { bus, stopServer, startServer } = wire()
    const one = bus({ timeoutMs: 1_000, log: () => {} })
    await stopServer()
    await expect(one.ping?.()).rejects.toMatchObject({ name: 'BusError', code: 'unavailable' })
    await startServer()
    await expect.poll(() => one.ping?.().then(() => 'answered', String), patient).toBe('answered')
  }, 60_000)

  test('who stops while the server is away is not connected again', async () => {
    const { bus, stopServer, startServer, countListeners } = wire()
    const errors: unknown[] = []
    const [one, other] = [bus({ log: ({ err }) => errors.push(err) }), bus({ timeoutMs: 1_000 })]
    const listener = await hearing(one)
    await stopServer()
    await expect.poll(() => errors.length, patient).toBeGreaterThan(0)
    listener.stop()
    await startServer()
    await expect.poll(() => other.publish({ topic: 'back' }).then(() => 'sent', String), patient).toBe('sent')
    expect(await countListeners()).toBe(0)
    expect(listener.heard).toEqual([])
  }, 60_000)
}

/** A peer may be gone without a word. */
function noticesSilence(wire: () => WireUnderTest): void {
  test('a peer that went without a word is noticed, and its return is told as a gap', async () => {
    const { bus, freeze, thaw, countListeners } = wire()
    const errors: unknown[] = []
    const one = bus({ keepAliveMs: 50, timeoutMs: 200, log: ({ err }) => errors.push(err) })
    const listener = await hearing(one)
    await freeze()
    await expect.poll(() => errors.length, patient).toBeGreaterThan(0)
    await thaw()
    await expect.poll(listener.topics, patient).toContain('gap')
    await passMarker(bus(), [listener])
    listener.stop()
    await expect.poll(countListeners, patient).toBe(0)
  }, 60_000)
}

/** No message is longer than its bound. */
function keepsToItsBounds(wire: () => WireUnderTest): void {
  test('a topic that no message can hold is told as a gap, for nobody may miss it', async () => {
    const { bus, maxBytes } = wire()
    const [one, other] = [bus(), bus()]
    const all = [await hearing(one), await hearing(other)]
    await one.publish({ topic: 'x'.repeat(maxBytes) })
    const marker = await passMarker(one, all)
    for (const { topics, stop } of all) {
      expect(topics()).toEqual(['gap', marker])
      stop()
    }
  })

  test('a message of the greatest length comes whole', async () => {
    const { bus, maxBytes } = wire()
    const listener = await hearing(bus())
    const topic = 'x'.repeat(maxBytes - '{"topic":""}'.length)
    await bus().publish({ topic })
    await expect.poll(listener.topics).toEqual([topic])
    listener.stop()
  })

  test('data that no message can hold is refused before it is sent', async () => {
    const { bus, maxBytes } = wire()
    const [one, other] = [bus(), bus()]
    const listener = await hearing(other)
    const published = one.publish({ topic: 'task', data: { text: 'x'.repeat(maxBytes) } })
    await expect(published).rejects.toMatchObject({ code: 'too_large', message: expect.stringContaining('"task"') })
    const marker = await passMarker(one, [listener])
    expect(listener.topics()).toEqual([marker])
    listener.stop()
  })
}

/** What others send harms nobody. */
function keepsToItsChannel(wire: () => WireUnderTest): void {
  test.each([
    ['no JSON', 'tools'],
    ['nothing', ''],
    ['no object', '["tools"]'],
    ['no topic', '{"subject":"tools"}'],
    ['a topic that is no string', '{"topic":1}'],
    ['data that is no object', '{"topic":"task","data":"all"}'],
    ['data deeper than any change has', `{"topic":"task","data":${'{"a":'.repeat(40)}1${'}'.repeat(40)}}`],
  ])('a message on the channel with %s is logged, and no listener gets it', async (_, text) => {
    const { bus, sendRaw } = wire()
    const errors: unknown[] = []
    const one = bus({ log: ({ err }) => errors.push(err) })
    const listener = await hearing(one)
    await sendRaw(text)
    const marker = await passMarker(one, [listener])
    expect(listener.topics()).toEqual([marker])
    expect(errors).toEqual([expect.objectContaining({ name: 'BusError', code: 'unreadable' })])
    listener.stop()
  })

  test('two channels of one server do not mix', async () => {
    const { bus } = wire()
    const [mine, yours] = [bus({ channel: 'mine' }), bus({ channel: 'yours' })]
    const [mineHears, yoursHears] = [await hearing(mine), await hearing(yours)]
    await mine.publish({ topic: 'tools' })
    await yours.publish({ topic: 'prompts' })
    await expect.poll(() => [mineHears.topics(), yoursHears.topics()]).toEqual([['tools'], ['prompts']])
    const [toMine, toYours] = [await passMarker(mine, [mineHears]), await passMarker(yours, [yoursHears])]
    expect([mineHears.topics(), yoursHears.topics()]).toEqual([
      ['tools', toMine],
      ['prompts', toYours],
    ])
    mineHears.stop()
    yoursHears.stop()
  })
}
