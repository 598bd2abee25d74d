import { BusError, type ChangeBus, type Log, type LogRecord, memoryBus } from '@x/core'
import type { ServerExtension } from '@x/exchange'
import { memoryStore, StateError, storedState } from '@x/state-codec'
import { manualClock } from '@tooling/vitest/manual-clock'
import { describe, expect, test } from 'vitest'
import { createServer, tool } from './index.ts'
import { createLogCollector } from './testing/ask.ts'

const about = { name: 'demo', version: '1.0.0', tools: [tool('t', { description: 't', run: () => 'ran' })] }

const codec = storedState({ store: memoryStore() })

type Ping = () => Promise<void>

describe('A server', () => {
  test('is ready while an extension that is not required cannot reach its store: its load and one report name it [UNA-004]', async () => {
    const { reported, log } = createLogCollector()
    let isReachable = false
    const start = () => ({ ready: () => isReachable })
    const extension: ServerExtension<'a'> = { extends: 'server', name: 'a', start }
    const server = createServer({ ...about, log, extensions: [extension] })
    expect([await server.ready(), await server.ready(), server.load.unavailable]).toEqual([true, true, ['a']])
    expect(reported).toMatchObject([
      { error: { message: expect.stringContaining('calls that need it fail meanwhile') } },
    ])
    isReachable = true
    expect([await server.ready(), server.load.unavailable]).toEqual([true, []])
    isReachable = false
    await server.ready()
    expect(reported).toHaveLength(2)
  })

  test('is not ready when a check of the author rejects, which is reported', async () => {
    const { reported, log } = createLogCollector()
    const ready = () => Promise.reject(new Error('no database'))
    const server = createServer({ ...about, log, ready })
    expect(await server.ready()).toBe(false)
    expect(reported).toMatchObject([{ error: { message: 'no database' } }])
  })

  test('says once in the log that its author says it is not ready', async () => {
    const { warnings, log } = createLogCollector()
    let isReady = false
    const server = createServer({ ...about, log, ready: () => isReady })
    expect([await server.ready(), await server.ready()]).toEqual([false, false])
    const warning = { method: 'ready', message: 'The option `ready` returned false: the server is not ready' }
    expect(warnings).toMatchObject([warning])
    isReady = true
    expect(await server.ready()).toBe(true)
    isReady = false
    await server.ready()
    expect(warnings).toMatchObject([warning, warning])
  })

  test('is not ready while the store of its state cannot be reached, and reports each change once [UNA-004]', async () => {
    const { reported, log } = createLogCollector()
    let isReachable = true
    const inner = memoryStore()
    const get = (key: string) => (isReachable ? inner.get(key) : Promise.reject(new Error('no connection')))
    const server = createServer({ ...about, log, state: storedState({ store: { ...inner, get } }) })
    expect([await server.ready(), server.load.unavailable]).toEqual([true, []])
    isReachable = false
    for (let probe = 0; probe < 3; probe++) expect(await server.ready()).toBe(false)
    expect(server.load.unavailable).toEqual(['state'])
    expect(reported).toMatchObject([{ error: { message: expect.stringContaining('the server is not ready') } }])
    isReachable = true
    expect([await server.ready(), server.load.unavailable]).toEqual([true, []])
  })

  test('is ready while the bus of its subscriptions cannot be reached: its load and one report name it [UNA-004]', async () => {
    const { reported, log } = createLogCollector()
    let isReachable = false
    const ping = () => (isReachable ? Promise.resolve() : Promise.reject(new Error('no connection')))
    const server = createServer({ ...about, log, subscriptions: { bus: { ...memoryBus(), ping } } })
    expect([await server.ready(), await server.ready(), server.load.unavailable]).toEqual([
      true,
      true,
      ['subscriptions'],
    ])
    expect(reported).toMatchObject([
      { error: { message: expect.stringContaining('`subscriptions` cannot be reached') } },
    ])
    isReachable = true
    expect([await server.ready(), server.load.unavailable]).toEqual([true, []])
  })

  test('is ready while its bus does not answer, which counts as unreachable after two seconds [UNA-004]', async () => {
    const { reported, log } = createLogCollector()
    const clock = manualClock()
    const bus = { ...memoryBus(), ping: () => new Promise<void>(() => {}) }
    const server = createServer({ ...about, log, runtime: clock, subscriptions: { bus } })
    const probe = async () => {
      const ready = server.ready()
      // The other parts answer first.
      await new Promise(setImmediate)
      clock.advance(2000)
      expect([await ready, server.load.unavailable]).toEqual([true, ['subscriptions']])
    }
    await probe()
    // It may still open: PGlite needs seconds for a new folder.
    expect(reported).toEqual([])
    clock.advance(28_000)
    await probe()
    await probe()
    expect(reported).toMatchObject([{ error: { cause: { message: 'It did not answer within 2000 ms' } } }])
  })

  test('writes an outage of its bus into its log, as three lines, whether the bus or a check notices it', async () => {
    const records: LogRecord[] = []
    const clock = manualClock()
    let down: Error | undefined
    let logOfBus: Log = () => {}
    const bus: ChangeBus = {
      ...memoryBus(),
      ping: () => (down === undefined ? Promise.resolve() : Promise.reject(down)),
      useLog: (log) => (logOfBus = log),
    }
    const log = (record: LogRecord) => void (record.level !== 'debug' && records.push(record))
    const server = createServer({ ...about, log, runtime: clock, subscriptions: { bus } })
    down = new BusError('unavailable', 'The line is cut')
    const failure = { level: 'error', message: 'BusError: The line is cut', err: down } as const
    logOfBus(failure)
    await server.ready()
    clock.advance(11_000)
    logOfBus({ ...failure, level: 'debug' })
    logOfBus({ level: 'warn', code: 'unavailable', message: 'Redis has failed for 11 s' })
    down = undefined
    await server.ready()
    logOfBus({ level: 'info', code: 'available', message: 'Redis answers again, after 11 s' })
    expect(records).toMatchObject([
      failure,
      { level: 'warn', code: 'unavailable', message: expect.stringMatching(/^The change bus has failed for 11 s/) },
      { level: 'info', code: 'available', message: 'The change bus answers again, after 11 s' },
    ])
  })

  test.each([
    [
      'bus',
      new BusError('unavailable', 'away'),
      (ping: Ping) => ({ subscriptions: { bus: { ...memoryBus(), ping } } }),
    ],
    ['state', new StateError('unavailable', 'away'), (ping: Ping) => ({ state: { ...codec, ping } })],
  ])('writes an outage of its %s that only its checks notice as three lines', async (_, failure, settingsOf) => {
    const records: LogRecord[] = []
    const clock = manualClock()
    let down: Error | undefined = failure
    const settings = settingsOf(() => (down === undefined ? Promise.resolve() : Promise.reject(down)))
    const log = (record: LogRecord) => void records.push(record)
    const server = createServer({ ...about, log, runtime: clock, ...settings })
    for (const pauseMs of [0, 5000, 5000, 5000]) {
      clock.advance(pauseMs)
      await server.ready()
    }
    down = undefined
    clock.advance(15_000)
    await server.ready()
    expect(records.flatMap(({ level, code }) => (level === 'debug' ? [] : [[level, code]]))).toEqual([
      ['error', undefined],
      ['warn', 'unavailable'],
      ['info', 'available'],
    ])
  })
})
