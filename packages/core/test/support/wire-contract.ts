import { expect, onTestFinished, test, vi } from 'vitest'
import type { ChangeBus } from '../../src/bus/change-bus.ts'
import type { NetworkBusOptions } from '../../src/bus/network-bus.ts'
import type { Log } from '../../src/log.ts'
import { type Fleet, testBusContract } from './bus-contract.ts'
import { recordListener, publishMarker } from './record-listener.ts'

/** A real server with a bus, controlled by a test. */
export interface WireUnderTest {
  /** Creates a bus of another instance, on the channel `service` by default. */
  readonly bus: (options?: NetworkBusOptions & { channel?: string }) => ChangeBus
  /** Sends a text on the channel `service` without a bus. */
  readonly sendRaw: (text: string) => Promise<unknown>
  /** Breaks every listening connection. */
  readonly breakListeners: () => Promise<unknown>
  /** Returns the number of listening connections. */
  readonly countListeners: () => Promise<number>
  readonly stopServer: () => Promise<void>
  readonly startServer: () => Promise<void>
  /** Stops the answers of the listening connections without closing them. */
  readonly freeze: () => Promise<void>
  readonly thaw: () => Promise<void>
  /** The size limit of a message. */
  readonly maxBytes: number
}

const pollOptions = { interval: 20, timeout: 60_000 }

/** Tests the requirements for every bus over a network, and those for every bus. */
export function testWireContract(openWire: () => WireUnderTest): void {
  const wire = (): WireUnderTest => repairAfterTest(openWire())
  let fleet: Fleet | undefined
  testBusContract(() => {
    const errors: unknown[] = []
    const log: Log = ({ err }) => void errors.push(err)
    const { bus } = wire()
    fleet ??= { one: bus({ log }), other: bus({ log }), third: bus({ log }), errors }
    return fleet
  })
  testConnectionCount(wire)
  testReconnection(wire)
  testSilentPeer(wire)
  testSizeLimit(wire)
  testChannelIsolation(wire)
}

/** Repairs what a failed test leaves: a stopped or frozen server would make the tests after it fail. */
function repairAfterTest(wire: WireUnderTest): WireUnderTest {
  const open = { stopped: false, frozen: false }
  return {
    ...wire,
    stopServer: async () => {
      open.stopped = true
      onTestFinished(() => (open.stopped ? wire.startServer() : undefined))
      await wire.stopServer()
    },
    startServer: async () => {
      await wire.startServer()
      open.stopped = false
    },
    freeze: async () => {
      open.frozen = true
      onTestFinished(() => (open.frozen ? wire.thaw() : undefined))
      await wire.freeze()
    },
    thaw: async () => {
      await wire.thaw()
      open.frozen = false
    },
  }
}

/** Tests that all listeners share one connection. */
function testConnectionCount(wire: () => WireUnderTest): void {
  test('all listeners share one connection, which closes with the last listener', async () => {
    const { bus, countListeners } = wire()
    await expect.poll(countListeners, pollOptions).toBe(0)
    const one = bus()
    const all = await Promise.all(Array.from({ length: 20 }, () => recordListener(one)))
    expect(await countListeners()).toBe(1)
    for (const { stop } of all) stop()
    await expect.poll(countListeners, pollOptions).toBe(0)
  })

  test('a listener that is added while the last connection closes receives each change once', async () => {
    const { bus, countListeners } = wire()
    const one = bus()
    for (let round = 0; round < 10; round++) {
      const before = await recordListener(one)
      before.stop()
      const after = await recordListener(one)
      const marker = await publishMarker(one, [after])
      expect([before.received, after.topics()]).toEqual([[], [marker]])
      after.stop()
    }
    await expect.poll(countListeners, pollOptions).toBe(0)
  })
}

/** Tests that a lost connection is opened again and reported as a gap. */
function testReconnection(wire: () => WireUnderTest): void {
  test('a broken connection is opened again, and all listeners receive a gap before further changes', async () => {
    const { bus, breakListeners, countListeners } = wire()
    const errors: unknown[] = []
    const [one, other] = [bus({ log: ({ err, code }) => errors.push(err ?? code) }), bus()]
    const all = [await recordListener(one), await recordListener(one), await recordListener(other)]
    await breakListeners()
    for (const { topics } of all) await expect.poll(topics, pollOptions).toEqual(['gap'])
    const marker = await publishMarker(other, all)
    for (const { topics, stop } of all) {
      expect(topics()).toEqual(['gap', marker])
      stop()
    }
    expect(errors).toEqual([expect.objectContaining({ name: 'BusError', code: 'unavailable' }), 'available'])
    await expect.poll(countListeners, pollOptions).toBe(0)
  })

  test('`publish` and `listen` reject in time while the server is unreachable, and listeners receive a gap after its restart', async () => {
    const { bus, stopServer, startServer, countListeners } = wire()
    const [one, other] = [bus({ timeoutMs: 1_000 }), bus({ timeoutMs: 1_000 })]
    const listener = await recordListener(one)
    await stopServer()
    const unavailable = { name: 'BusError', code: 'unavailable' }
    await expect(one.publish({ topic: 'lost' })).rejects.toMatchObject(unavailable)
    await expect(recordListener(one)).rejects.toMatchObject(unavailable)
    await expect(recordListener(other)).rejects.toMatchObject(unavailable)
    await startServer()
    await expect.poll(listener.topics, pollOptions).toContain('gap')
    const late = await recordListener(other)
    await expect.poll(() => one.publish({ topic: 'back' }).then(() => 'sent', String), pollOptions).toBe('sent')
    await publishMarker(one, [listener, late])
    expect(listener.topics()).not.toContain('lost')
    listener.stop()
    late.stop()
    await expect.poll(countListeners, pollOptions).toBe(0)
  })

  test('a ping rejects while the server is unreachable, and resolves after its restart [UNA-004]', async () => {
    const { bus, stopServer, startServer } = wire()
    const one = bus({ timeoutMs: 1_000, log: () => {} })
    await stopServer()
    await expect(one.ping?.()).rejects.toMatchObject({ name: 'BusError', code: 'unavailable' })
    await startServer()
    await expect.poll(() => one.ping?.().then(() => 'answered', String), pollOptions).toBe('answered')
  })

  test('a listener that is removed while the server is unreachable causes no reconnection', async () => {
    const { bus, stopServer, startServer, countListeners } = wire()
    const errors: unknown[] = []
    const [one, other] = [bus({ log: ({ err }) => errors.push(err) }), bus({ timeoutMs: 1_000 })]
    const listener = await recordListener(one)
    await stopServer()
    await expect.poll(() => errors.length, pollOptions).toBeGreaterThan(0)
    listener.stop()
    await startServer()
    await expect.poll(() => other.publish({ topic: 'back' }).then(() => 'sent', String), pollOptions).toBe('sent')
    expect(await countListeners()).toBe(0)
    expect(listener.received).toEqual([])
  })
}

/** Tests that a peer that stops answering is detected. */
function testSilentPeer(wire: () => WireUnderTest): void {
  test('a peer that stops answering is detected, and listeners receive a gap after the reconnection', async () => {
    const { bus, freeze, thaw, countListeners } = wire()
    const errors: unknown[] = []
    const one = bus({ keepAliveMs: 50, timeoutMs: 200, log: ({ err }) => errors.push(err) })
    // The limit that detects the silence also holds for the first connection, which a busy machine may miss.
    const listener = await vi.waitFor(() => recordListener(one), pollOptions)
    await freeze()
    await expect.poll(() => errors.length, pollOptions).toBeGreaterThan(0)
    await thaw()
    await expect.poll(listener.topics, pollOptions).toContain('gap')
    await publishMarker(bus(), [listener])
    listener.stop()
    await expect.poll(countListeners, pollOptions).toBe(0)
  })
}

/** Tests the size limit of messages. */
function testSizeLimit(wire: () => WireUnderTest): void {
  test('a topic that exceeds the size limit is delivered as a gap, so that no listener misses a change', async () => {
    const { bus, maxBytes } = wire()
    const [one, other] = [bus(), bus()]
    const all = [await recordListener(one), await recordListener(other)]
    await one.publish({ topic: 'x'.repeat(maxBytes) })
    const marker = await publishMarker(one, all)
    for (const { topics, stop } of all) {
      expect(topics()).toEqual(['gap', marker])
      stop()
    }
  })

  test('a message of the maximum length arrives whole', async () => {
    const { bus, maxBytes } = wire()
    const listener = await recordListener(bus())
    const topic = 'x'.repeat(maxBytes - '{"topic":""}'.length)
    await bus().publish({ topic })
    await expect.poll(listener.topics).toEqual([topic])
    listener.stop()
  })

  test('data that exceeds the size limit is rejected before it is sent', async () => {
    const { bus, maxBytes } = wire()
    const [one, other] = [bus(), bus()]
    const listener = await recordListener(other)
    const published = one.publish({ topic: 'task', data: { text: 'x'.repeat(maxBytes) } })
    await expect(published).rejects.toMatchObject({ code: 'too_large', message: expect.stringContaining('"task"') })
    const marker = await publishMarker(one, [listener])
    expect(listener.topics()).toEqual([marker])
    listener.stop()
  })
}

/** Tests that foreign messages do not affect the listeners. */
function testChannelIsolation(wire: () => WireUnderTest): void {
  test.each([
    ['text that is not JSON', 'tools'],
    ['no characters', ''],
    ['an array', '["tools"]'],
    ['no topic', '{"subject":"tools"}'],
    ['a topic that is not a string', '{"topic":1}'],
    ['data that is not an object', '{"topic":"task","data":"all"}'],
    ['data that exceeds the nesting limit', `{"topic":"task","data":${'{"a":'.repeat(40)}1${'}'.repeat(40)}}`],
  ])('a message on the channel with %s is logged, and no listener receives it', async (_, text) => {
    const { bus, sendRaw } = wire()
    const errors: unknown[] = []
    const one = bus({ log: ({ err }) => errors.push(err) })
    const listener = await recordListener(one)
    await sendRaw(text)
    const marker = await publishMarker(one, [listener])
    expect(listener.topics()).toEqual([marker])
    expect(errors).toEqual([expect.objectContaining({ name: 'BusError', code: 'unreadable' })])
    listener.stop()
  })

  test('listeners receive only the changes of their channel', async () => {
    const { bus } = wire()
    const [first, second] = [bus({ channel: 'first' }), bus({ channel: 'second' })]
    const [firstListener, secondListener] = [await recordListener(first), await recordListener(second)]
    await first.publish({ topic: 'tools' })
    await second.publish({ topic: 'prompts' })
    await expect.poll(() => [firstListener.topics(), secondListener.topics()]).toEqual([['tools'], ['prompts']])
    const [firstMarker, secondMarker] = [
      await publishMarker(first, [firstListener]),
      await publishMarker(second, [secondListener]),
    ]
    expect([firstListener.topics(), secondListener.topics()]).toEqual([
      ['tools', firstMarker],
      ['prompts', secondMarker],
    ])
    firstListener.stop()
    secondListener.stop()
  })
}
