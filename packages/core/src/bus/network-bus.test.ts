import { EventEmitter } from 'node:events'
import { manualClock } from '@tooling/vitest/manual-clock'
import { expect, test } from 'vitest'
import { redisBus, type RedisSubscriber } from '../redis.ts'
import { createNetworkBus, type BusConnector } from './network-bus.ts'

const wire: BusConnector = {
  name: 'The wire',
  maxMessageBytes: 1_000,
  connect: () => Promise.resolve({ ping: () => Promise.resolve() }),
  send: () => Promise.resolve(),
  ping: () => Promise.resolve(),
  advice: 'is it plugged in?',
}

test.each([
  ['timeoutMs', { timeoutMs: 0 }],
  ['timeoutMs', { timeoutMs: Number.NaN }],
  ['keepAliveMs', { keepAliveMs: -1 }],
  ['keepAliveMs', { keepAliveMs: Number.POSITIVE_INFINITY }],
])('a %s that is not a valid time is rejected', (option, options) => {
  expect(() => createNetworkBus(wire, options)).toThrow(
    expect.objectContaining({ name: 'RangeError', message: expect.stringContaining(option) }),
  )
})

test('a listener is notified of a gap when a lost connection is open again', async () => {
  const losses: ((error: unknown) => void)[] = []
  const connect: BusConnector['connect'] = async ({ handleLoss }) => {
    losses.push(handleLoss)
    return { ping: () => Promise.resolve() }
  }
  const bus = createNetworkBus({ ...wire, connect }, { log: () => {} }, manualClock())
  let gaps = 0
  const stop = await bus.listen({ onChange: () => {}, onGap: () => (gaps += 1) })
  losses[0]?.(new Error('The wire is unplugged'))
  // A caller that listens needs the connection at once.
  const stopSecond = await bus.listen({ onChange: () => {}, onGap: () => {} })
  expect([losses.length, gaps]).toEqual([2, 1])
  stop()
  stopSecond()
})

test.each(['publish', 'ping'] as const)(
  'once the server answers to `%s`, listeners need not wait for the end of a long pause between two attempts',
  async (request) => {
    const clock = manualClock()
    const losses: ((error: unknown) => void)[] = []
    let isAway = false
    const answer = async (): Promise<void> => {
      if (isAway) throw new Error('The wire is unplugged')
    }
    const connect: BusConnector['connect'] = async ({ handleLoss }) => {
      losses.push(handleLoss)
      await answer()
      return { ping: answer }
    }
    const bus = createNetworkBus({ ...wire, connect, send: answer, ping: answer }, { log: () => {} }, clock)
    const send = async (): Promise<void> => (request === 'ping' ? bus.ping?.() : bus.publish({ topic: 'tools' }))
    let gaps = 0
    const stop = await bus.listen({ onChange: () => {}, onGap: () => (gaps += 1) })
    isAway = true
    losses[0]?.(new Error('The wire is unplugged'))
    const pass = async (seconds: number): Promise<void> => {
      for (let second = 0; second < seconds; second += 1) {
        clock.advance(1_000)
        await new Promise(setImmediate)
      }
    }
    // After so many failures, a pause is half a minute or a random part of it.
    await pass(300)
    isAway = false
    await send()
    await pass(1)
    await send()
    await expect.poll(() => gaps).toBe(1)
    stop()
  },
)

test('publishing that exceeds its time limit is aborted and rejects with advice', async () => {
  const clock = manualClock()
  const signals: AbortSignal[] = []
  const send: BusConnector['send'] = (_, signal) => {
    signals.push(signal)
    return new Promise(() => {})
  }
  const bus = createNetworkBus({ ...wire, send }, {}, clock)
  const published = bus.publish({ topic: 'tools' })
  clock.advance(5_000)
  await expect(published).rejects.toMatchObject({
    code: 'unavailable',
    message: 'The wire did not answer within 5000 ms: is it plugged in?',
  })
  expect([signals.map(({ aborted }) => aborted), clock.waiting]).toEqual([[true], 0])
})

test('a listener whose registration was rejected receives no changes and leaves no connection open', async () => {
  const outcomes = [() => Promise.reject(new Error('refused')), wire.connect]
  const connect: BusConnector['connect'] = async (onChange, signal) => {
    const outcome = outcomes.shift() ?? wire.connect
    const connection = await outcome(onChange, signal)
    queueMicrotask(() => onChange.handleMessage('{"topic":"tools"}'))
    return connection
  }
  const bus = createNetworkBus({ ...wire, connect }, {}, manualClock())
  const onChange: string[] = []
  const listen = (name: string) => bus.listen({ onChange: () => onChange.push(name), onGap: () => onChange.push(name) })
  await expect(listen('refused')).rejects.toMatchObject({ code: 'unavailable' })
  await listen('served')
  await expect.poll(() => onChange).toEqual(['served'])
})

test('a client that was never connected is rejected with the error of the driver', async () => {
  const subscriber: RedisSubscriber = {
    on: () => subscriber,
    connect: () => Promise.reject(new Error('ECONNREFUSED')),
    subscribe: () => Promise.resolve(),
    sendCommand: () => Promise.resolve(),
    destroy: () => {},
  }
  const client = { sendCommand: () => Promise.reject(new Error('The client is closed')), duplicate: () => subscriber }
  const bus = redisBus(client)
  await expect(bus.publish({ topic: 'tools' })).rejects.toThrow('Redis cannot be reached: The client is closed')
  await expect(bus.listen({ onChange: () => {}, onGap: () => {} })).rejects.toThrow(
    'Redis cannot be reached: ECONNREFUSED',
  )
})

test('a bus without a log of its own uses that of the server that gets it', async () => {
  const losses: ((error: unknown) => void)[] = []
  const connect: BusConnector['connect'] = async ({ handleLoss }) => {
    losses.push(handleLoss)
    return { ping: () => Promise.resolve() }
  }
  const written: string[] = []
  for (const options of [{}, { log: () => void written.push('own') }]) {
    const bus = createNetworkBus({ ...wire, connect }, options, manualClock())
    bus.useLog?.(() => void written.push('server'))
    const stop = await bus.listen({ onChange: () => {}, onGap: () => {} })
    losses.at(-1)?.(new Error('The wire is unplugged'))
    stop()
  }
  expect(written).toEqual(['server', 'own'])
})

test('a client of the program needs no error listener of its own, without which a broken connection ends the process', () => {
  const sendCommand = (): Promise<never> => Promise.reject(new Error('Socket closed unexpectedly'))
  const client = Object.assign(new EventEmitter(), { sendCommand, duplicate: () => Promise.reject(new Error('none')) })
  redisBus(client)
  redisBus(client)
  expect(client.listenerCount('error')).toBe(1)
})
