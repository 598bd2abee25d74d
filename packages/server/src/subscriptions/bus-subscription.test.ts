import { errorCodes } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { createServer } from '../index.ts'
import { createLogCollector } from '../testing/ask.ts'
import {
  waitForListenResult,
  type ManualBus,
  createManualBus,
  openListenStream,
  flushAsyncWork,
  startListenStream,
} from '../testing/listening.ts'

const tools = { toolsListChanged: true }

function serve(bus: ManualBus) {
  const { reported, log } = createLogCollector()
  const server = createServer({
    name: 'demo',
    version: '1.0.0',
    tools: [],
    prompts: [],
    subscriptions: { bus },
    log,
  })
  return { server, reported }
}

describe('the bus', () => {
  test('is listened to once, from the first stream to the last', async () => {
    const bus = createManualBus({ atOnce: true })
    const { server } = serve(bus)
    expect(bus.attempts).toHaveLength(0)
    const streams = [
      await openListenStream(server, tools),
      await openListenStream(server, tools),
      await openListenStream(server, {}),
    ]
    expect([bus.attempts.length, bus.listeners]).toEqual([1, 1])
    for (const stream of streams) {
      expect(bus.listeners).toBe(1)
      stream.abort()
      await stream.response
    }
    expect(bus.listeners).toBe(0)
    await openListenStream(server, tools)
    expect([bus.attempts.length, bus.listeners]).toEqual([2, 1])
  })

  test('carries changes of unknown topics, and of topics without a stream, to other instances', async () => {
    const bus = createManualBus({ atOnce: true })
    const { server } = serve(bus)
    const stream = await openListenStream(server, tools)
    for (const topic of ['task:1', 'prompts', 'resource:text://a', '', '__proto__', 'tools']) bus.change(topic)
    expect(stream.changes()).toEqual(['tools'])
  })

  test('that may have lost changes notifies every stream of all topics in its filter, and of no others', async () => {
    const bus = createManualBus({ atOnce: true })
    const { server } = serve(bus)
    const streams = [
      await openListenStream(server, tools),
      await openListenStream(server, { ...tools, promptsListChanged: true }),
    ]
    const silent = await openListenStream(server, {})
    bus.gap()
    expect([...streams, silent].map((stream) => stream.changes().toSorted())).toEqual([
      ['tools'],
      ['prompts', 'tools'],
      [],
    ])
  })
})

describe('while the bus opens', () => {
  test('nothing is acknowledged, so that no change behind the acknowledgement is lost [SUB-002 SUB-003]', async () => {
    const bus = createManualBus()
    const { server } = serve(bus)
    const stream = startListenStream(server, tools)
    await flushAsyncWork()
    expect(stream.messages).toEqual([])
    bus.attempts[0]?.open()
    // It has not been promised yet, and so it is not owed.
    bus.change('tools')
    await flushAsyncWork()
    expect([stream.messages.length, stream.changes()]).toEqual([1, []])
    bus.change('tools')
    expect(stream.changes()).toEqual(['tools'])
  })

  test('a change that the acknowledgement itself brings about comes behind it [SUB-003]', async () => {
    const bus = createManualBus({ atOnce: true })
    const { server } = serve(bus)
    let acknowledged = false
    const notify = (): void => {
      if (!acknowledged) {
        acknowledged = true
        bus.change('tools')
      }
    }
    const stream = await openListenStream(server, tools, { notify })
    expect(stream.messages.map(({ method }) => method)).toEqual([
      'notifications/subscriptions/acknowledged',
      'notifications/tools/list_changed',
    ])
  })

  test('streams wait for the same opening', async () => {
    const bus = createManualBus()
    const { server } = serve(bus)
    const streams = [startListenStream(server, tools), startListenStream(server, tools)]
    bus.attempts[0]?.open()
    await flushAsyncWork()
    expect(bus.attempts).toHaveLength(1)
    bus.change('tools')
    expect(streams.map((stream) => stream.changes())).toEqual([['tools'], ['tools']])
  })

  test('a stream that is given up ends at once, unacknowledged, and the bus is closed as soon as it is open', async () => {
    const bus = createManualBus()
    const { server, reported } = serve(bus)
    const stream = startListenStream(server, tools)
    const reason = new Error('enough')
    stream.abort(reason)
    await expect(stream.response).rejects.toBe(reason)
    bus.attempts[0]?.open()
    await flushAsyncWork()
    expect([bus.listeners, stream.messages, reported]).toEqual([0, [], []])
  })

  test('a stream that is given up in the very turn in which it opens is not acknowledged', async () => {
    const bus = createManualBus()
    const { server } = serve(bus)
    const stream = startListenStream(server, tools)
    const reason = new Error('enough')
    bus.attempts[0]?.open()
    await Promise.resolve()
    stream.abort(reason)
    await expect(stream.response).rejects.toBe(reason)
    await flushAsyncWork()
    expect([bus.listeners, stream.messages]).toEqual([0, []])
  })

  test('a stream that comes behind one that was given up takes over its opening', async () => {
    const bus = createManualBus()
    const { server } = serve(bus)
    const first = startListenStream(server, tools)
    first.abort()
    await first.response.catch(() => {})
    const second = startListenStream(server, tools)
    bus.attempts[0]?.open()
    await flushAsyncWork()
    expect([bus.attempts.length, bus.listeners, second.messages.length]).toEqual([1, 1, 1])
  })
})

describe('a bus that fails', () => {
  const failure = new Error('connect ECONNREFUSED 10.0.0.7:6379')
  const refused = { error: { code: errorCodes.internal, message: expect.stringContaining('cannot be reached') } }

  test('fails the requests that wait for it, is logged once, and the next request tries again', async () => {
    const bus = createManualBus()
    const { server, reported } = serve(bus)
    const streams = [startListenStream(server, tools), startListenStream(server, tools)]
    bus.attempts[0]?.fail(failure)
    const answers = await Promise.all(streams.map(({ response }) => response))
    expect(answers).toMatchObject([refused, refused])
    expect(JSON.stringify(answers)).not.toContain('10.0.0.7')
    expect(reported).toEqual([{ error: failure, where: { method: 'subscriptions/listen' } }])
    const again = startListenStream(server, tools)
    bus.attempts[1]?.open()
    await flushAsyncWork()
    bus.change('tools')
    expect(again.changes()).toEqual(['tools'])
  })

  test('keeps no change from the clients of its own instance', async () => {
    const bus = { ...createManualBus({ atOnce: true }), publish: () => Promise.reject(failure) }
    const { server } = serve(bus)
    const stream = await openListenStream(server, tools)
    await expect(server.notifyListChanged('tools')).rejects.toBe(failure)
    expect(stream.changes()).toEqual(['tools'])
  })

  test('before it is asked anything counts as well', async () => {
    const listen = () => {
      throw failure
    }
    const { server, reported } = serve({ ...createManualBus(), listen })
    expect(await startListenStream(server, tools).response).toMatchObject(refused)
    expect(reported).toMatchObject([{ error: failure }])
  })

  test('to open for a cancelled stream is only logged', async () => {
    const bus = createManualBus()
    const { server, reported } = serve(bus)
    const stream = startListenStream(server, tools)
    stream.abort(failure)
    await expect(stream.response).rejects.toBe(failure)
    bus.attempts[0]?.fail(failure)
    await flushAsyncWork()
    expect(reported).toHaveLength(1)
    void startListenStream(server, tools)
    expect(bus.attempts).toHaveLength(2)
  })

  test('to stop is logged, and the stream ends with a result', async () => {
    const stop = () => {
      throw failure
    }
    const { server, reported } = serve({ ...createManualBus(), listen: () => Promise.resolve(stop) })
    const stream = await openListenStream(server, tools)
    stream.abort()
    expect(await waitForListenResult(stream)).toMatchObject({ resultType: 'complete' })
    expect(reported).toMatchObject([{ error: failure }])
  })
})

test('a list of no such name and a URI without a scheme are rejected, because no client can subscribe to them', async () => {
  const { server } = serve(createManualBus({ atOnce: true }))
  await expect(server.notifyListChanged('bogus' as 'tools')).rejects.toThrow(
    new TypeError('notifyListChanged takes one of "tools", "prompts", "resources", and was given "bogus"'),
  )
  await expect(server.notifyResourceUpdated('not a uri')).rejects.toThrow(
    new TypeError(
      'notifyResourceUpdated takes a URI with a scheme, such as "file:///a.txt", and was given "not a uri"',
    ),
  )
})
