import { manualClock } from '@tooling/vitest/manual-clock'
import { errorCodes } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { internalSettings } from '../internals.ts'
import { createServer, resourceTemplate } from '../index.ts'
import {
  waitForListenResult,
  createManualBus,
  openListenStream,
  type ListenStream,
  flushAsyncWork,
} from '../testing/listening.ts'

/** A reader that takes nothing from `stall` to `drain`. */
function reader() {
  let waiting: Promise<void> | undefined
  let wake = (): void => {}
  return {
    backPressure: () => waiting,
    stall: () => {
      waiting = new Promise((resolve) => {
        wake = resolve
      })
    },
    drain: () => {
      waiting = undefined
      wake()
    },
  }
}

function serve() {
  const clock = manualClock()
  const bus = createManualBus({ atOnce: true })
  const note = resourceTemplate('note://{id}', { name: 'note', read: () => '' })
  const server = createServer({
    name: 'demo',
    version: '1.0.0',
    tools: [],
    prompts: [],
    resourceTemplates: [note],
    subscriptions: { bus },
    runtime: clock,
    ...internalSettings({ slowReaderTimeoutMs: 5000 }),
  })
  return { server, bus, clock }
}

const filter = { toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: ['note://1', 'note://2'] }

/** A stream that has been told of something while its reader was behind. */
async function stalled() {
  const served = serve()
  const slow = reader()
  const stream = await openListenStream(served.server, filter, { backPressure: slow.backPressure })
  slow.stall()
  served.bus.change('tools')
  return { ...served, slow, stream }
}

describe('while a reader is behind', () => {
  test('changes are kept, each once, and sent when it has caught up', async () => {
    const { bus, clock, slow, stream } = await stalled()
    for (let count = 0; count < 1000; count++) {
      for (const topic of ['resource:note://1', 'tools', 'resource:note://2', 'prompts']) bus.change(topic)
    }
    expect(stream.changes()).toEqual([])
    slow.drain()
    await flushAsyncWork()
    expect(stream.changes()).toEqual(['tools', 'note://1', 'note://2', 'prompts'])
    expect(clock.waiting).toBe(0)
    bus.change('tools')
    expect(stream.changes()).toHaveLength(5)
  })

  test('other streams are notified at once', async () => {
    const { server, bus, stream } = await stalled()
    const other = await openListenStream(server, filter)
    bus.change('tools')
    expect([stream.changes(), other.changes()]).toEqual([[], ['tools']])
  })

  test('a gap of the bus is kept as well', async () => {
    const { bus, slow, stream } = await stalled()
    bus.gap()
    slow.drain()
    await flushAsyncWork()
    expect(stream.changes().toSorted()).toEqual(['note://1', 'note://2', 'prompts', 'tools'])
  })

  test('and falls behind again, the rest waits again, and so does the limit', async () => {
    const { bus, clock, slow, stream } = await stalled()
    bus.change('prompts')
    clock.advance(4999)
    slow.drain()
    // What it is sent first fills it again.
    slow.stall()
    await flushAsyncWork()
    clock.advance(4999)
    expect([stream.changes(), clock.waiting]).toEqual([[], 1])
    slow.drain()
    await flushAsyncWork()
    expect([stream.changes(), clock.waiting]).toEqual([['tools', 'prompts'], 0])
  })

  test('a stream whose reader stays slow beyond the time limit ends with an error, and its resources are freed', async () => {
    const { bus, clock, slow, stream } = await stalled()
    clock.advance(4999)
    await flushAsyncWork()
    expect(bus.listeners).toBe(1)
    clock.advance(1)
    expect(await stream.response).toMatchObject({
      error: { code: errorCodes.internal, message: expect.stringContaining('did not catch up within 5000 ms') },
    })
    expect([bus.listeners, clock.waiting]).toEqual([0, 0])
    slow.drain()
    await flushAsyncWork()
    expect(stream.changes()).toEqual([])
  })

  test('the stream may end with a result, and then sends nothing more', async () => {
    const { clock, slow, stream } = await stalled()
    stream.abort()
    expect(await waitForListenResult(stream)).toMatchObject({ resultType: 'complete' })
    expect(clock.waiting).toBe(0)
    slow.drain()
    await flushAsyncWork()
    expect(stream.changes()).toEqual([])
  })

  test.each<[string, () => Promise<void>]>([
    ['says so by a rejection', () => Promise.reject(new Error('gone'))],
    [
      'fails to say whether it is behind',
      () => {
        throw new Error('gone')
      },
    ],
  ])('a transport that %s leaves no timer', async (_, fail) => {
    const { server, bus, clock } = serve()
    let calls = 0
    const backPressure = () => {
      calls += 1
      return calls === 1 ? fail() : undefined
    }
    const stream: ListenStream = await openListenStream(server, filter, { backPressure })
    bus.change('tools')
    await flushAsyncWork()
    stream.abort()
    await stream.response
    expect(clock.waiting).toBe(0)
  })
})
