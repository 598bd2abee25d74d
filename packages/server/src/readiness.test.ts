import { memoryBus } from '@x/core'
import type { ServerExtension } from '@x/exchange'
import { memoryStore, storedState } from '@x/state-codec'
import { manualClock } from '@tooling/vitest/manual-clock'
import { describe, expect, test } from 'vitest'
import { createServer, tool } from './index.ts'
import { createLogCollector } from './testing/ask.ts'

const about = { name: 'demo', version: '1.0.0', tools: [tool('t', { description: 't', run: () => 'ran' })] }

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
})
