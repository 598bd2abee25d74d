import { PassThrough } from 'node:stream'
import { manualClock } from '@tooling/vitest/manual-clock'
import { createCall } from '@x/exchange'
import { isJsonObject, type JsonObject, metaKeys, type RequestId } from '@x/schema'
import {
  createServer,
  memoryBus,
  resourceTemplate,
  type McpServer,
  type ServerDefinition,
  type SubscriptionOptions,
} from '@x/server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectStdio, connectStreams, serveStdio } from '../src/index.ts'
import { rawPeer } from '../src/testing/raw-peer.ts'
import { cancel, createRequest } from '../src/testing/requests.ts'
import { serveRaw } from '../src/testing/serve-raw.ts'
import { streamPair } from '../src/testing/stream-pair.ts'
import { type BuiltPrograms, buildPrograms } from './built-programs.ts'

const note = resourceTemplate('note://{id}', { name: 'note', read: () => '' })
const serve = (subscriptions: SubscriptionOptions = {}, runtime?: ServerDefinition['runtime']): McpServer =>
  createServer({
    name: 'demo',
    version: '1.0.0',
    tools: [],
    prompts: [],
    resourceTemplates: [note],
    subscriptions,
    runtime,
  })
const listen = (id: RequestId, notifications: JsonObject) =>
  createRequest(id, 'subscriptions/listen', { notifications })
const tools = { toolsListChanged: true }
const _meta = (id: RequestId) => ({ [metaKeys.subscriptionId]: id })
const acknowledged = { method: 'notifications/subscriptions/acknowledged' }
const toolsChanged = { method: 'notifications/tools/list_changed' }
const promptsChanged = { method: 'notifications/prompts/list_changed' }

/** Returns the number of listeners on a bus, which is the number of servers with open streams. */
function countedBus() {
  const bus = memoryBus()
  const state = { listening: 0 }
  return {
    state,
    bus: {
      ...bus,
      listen: async (listener: Parameters<typeof bus.listen>[0]) => {
        const stop = await bus.listen(listener)
        state.listening += 1
        return () => {
          state.listening -= 1
          stop()
        }
      },
    },
  }
}

describe('streams on one channel', () => {
  test('are distinguished by their ids, each acknowledged before anything else of it [SUB-002 SUB-003 SUB-006 BAS-062]', async () => {
    const server = serve()
    await using served = serveRaw(server)
    served.peer.say(listen('a', tools), listen(2, { promptsListChanged: true }), listen(3, tools))
    for (const id of ['a', 2, 3]) {
      expect(await served.peer.next()).toMatchObject({ ...acknowledged, params: { _meta: _meta(id) } })
    }
    await server.notifyListChanged('prompts')
    await server.notifyListChanged('tools')
    expect(await served.peer.next()).toMatchObject({ ...promptsChanged, params: { _meta: _meta(2) } })
    expect(await served.peer.next()).toMatchObject({ ...toolsChanged, params: { _meta: _meta('a') } })
    expect(await served.peer.next()).toMatchObject({ ...toolsChanged, params: { _meta: _meta(3) } })
  })

  test('end with a result and a cancellation each when the service does [SUB-009 SUB-010 CAN-002 CAN-003 CAN-011]', async () => {
    const server = serve()
    const served = serveRaw(server)
    served.peer.say(listen(1, tools), listen('b', {}), createRequest(3, 'server/discover'))
    for (let count = 0; count < 3; count++) await served.peer.next()
    const closed = served.service.close()
    served.peer.end()
    await closed
    const lines = (await served.peer.ended).map((line): unknown => JSON.parse(line))
    const endOf = (id: RequestId) => [
      { id, result: { resultType: 'complete', _meta: _meta(id) } },
      { method: 'notifications/cancelled', params: { requestId: id } },
    ]
    expect(lines).toMatchObject([...endOf(1), ...endOf('b')])
  })

  test('that the client cancels send nothing more, and leave no state behind [CAN-012 SUB-012]', async () => {
    const { bus, state } = countedBus()
    const server = serve({ bus })
    await using served = serveRaw(server)
    served.peer.say(listen(1, tools))
    await served.peer.next()
    expect(state.listening).toBe(1)
    served.peer.say(cancel(1), createRequest(2, 'server/discover'))
    expect(await served.peer.next()).toMatchObject({ id: 2 })
    expect(state.listening).toBe(0)
    await server.notifyListChanged('tools')
    served.peer.say(listen(1, {}))
    expect(await served.peer.next()).toMatchObject(acknowledged)
    await server.notifyListChanged('tools')
    served.peer.say(createRequest(3, 'server/discover'))
    expect(await served.peer.next()).toMatchObject({ id: 3 })
    expect(served.peer.listUnread()).toEqual([])
  })

  test('end when their client does', async () => {
    const { bus, state } = countedBus()
    const served = serveRaw(serve({ bus }))
    served.peer.say(listen(1, tools))
    await served.peer.next()
    served.peer.end()
    await served.service.closed
    expect(state.listening).toBe(0)
  })
})

describe('a reader that is slow', () => {
  const filter = { ...tools, resourceSubscriptions: ['note://1', 'note://2'] }
  const change = async (server: McpServer): Promise<void> => {
    await server.notifyResourceUpdated('note://1')
    await server.notifyListChanged('tools')
    await server.notifyResourceUpdated('note://2')
  }
  /** A stream with a small output buffer, which is read only on request of the test. */
  async function unread(runtime: ServerDefinition['runtime'], subscriptions: SubscriptionOptions = {}) {
    const [input, output] = [new PassThrough(), new PassThrough({ highWaterMark: 500 })]
    const server = serve(subscriptions, runtime)
    const service = serveStdio(server, { input, output, graceMs: 30 })
    const written = new Promise<void>((resolve) => output.once('readable', resolve))
    input.write(`${JSON.stringify(listen(1, filter))}\n`)
    await written
    return { server, service, read: () => rawPeer({ input: output, output: input }) }
  }

  test('gets each change once when it reads again, for any number of changes, and loses none', async () => {
    const clock = manualClock()
    const { server, service, read } = await unread(clock)
    // Output that fits is written at once; the rest waits in as many entries as the filter has.
    for (let count = 0; count < 10_000; count++) await change(server)
    expect(clock.waiting).toBe(1)
    const peer = read()
    expect(await peer.next()).toMatchObject(acknowledged)
    const heard: unknown[] = []
    while (clock.waiting > 0 || peer.listUnread().length > 0) heard.push(nameOf(await peer.next()))
    expect(heard.length).toBeGreaterThanOrEqual(3)
    expect(heard.length).toBeLessThan(20)
    expect(new Set(heard.slice(-3))).toEqual(new Set(['notifications/tools/list_changed', 'note://1', 'note://2']))
    await service.close()
  })

  test('for too long loses the stream, and is notified when it reads again', async () => {
    const clock = manualClock()
    const { bus, state } = countedBus()
    const { server, service, read } = await unread(clock, { bus })
    for (let count = 0; count < 100; count++) await change(server)
    clock.advance(60_000)
    const peer = read()
    let last = await peer.next()
    while (last['id'] === undefined) last = await peer.next()
    expect(last).toMatchObject({ id: 1, error: { message: expect.stringContaining('did not catch up') } })
    expect(await peer.next()).toMatchObject({ method: 'notifications/cancelled', params: { requestId: 1 } })
    expect([state.listening, clock.waiting]).toEqual([0, 0])
    await service.close()
  })
})

function nameOf({ method, params }: JsonObject): unknown {
  return (isJsonObject(params) && params['uri']) || method
}

/** A call that signals a given number of notifications. */
function listener(signal: AbortSignal = new AbortController().signal) {
  const heard: JsonObject[] = []
  const waiting = new Map<number, () => void>()
  return {
    heard,
    call: createCall({
      signal,
      notify: ({ method, params = {} }) => {
        heard.push({ method, params })
        waiting.get(heard.length)?.()
      },
    }),
    /** Resolves when this number of messages has arrived. */
    has: (count: number): Promise<void> =>
      heard.length >= count ? Promise.resolve() : new Promise((resolve) => waiting.set(count, resolve)),
  }
}

describe('clients of one connection', () => {
  test('have streams under the same id, and each gets its own with its own id [SUB-008 STD-007]', async () => {
    const [near, far] = streamPair()
    const server = serve()
    await using service = serveStdio(server, { input: far, output: far, graceMs: 30 })
    await using connection = connectStreams({ input: near, output: near, graceMs: 30 })
    const controller = new AbortController()
    const [first, second] = [listener(), listener(controller.signal)]
    const ends = [
      connection.exchange(listen('mine', tools), first.call),
      connection.exchange(listen('mine', { promptsListChanged: true }), second.call),
    ]
    await Promise.all([first.has(1), second.has(1)])
    await server.notifyListChanged('prompts')
    await server.notifyListChanged('tools')
    await Promise.all([first.has(2), second.has(2)])
    const params = { _meta: _meta('mine') }
    expect(first.heard).toMatchObject([acknowledged, { ...toolsChanged, params }])
    expect(second.heard).toMatchObject([acknowledged, { ...promptsChanged, params }])
    controller.abort('enough')
    await expect(ends[1]).rejects.toBe('enough')
    void service.close()
    expect(await ends[0]).toMatchObject({ id: 'mine', result: { resultType: 'complete', _meta: _meta('mine') } })
  })
})

describe('a server in a process of its own', () => {
  let programs: BuiltPrograms
  beforeAll(async () => {
    programs = await buildPrograms()
  })
  afterAll(() => programs[Symbol.asyncDispose]())

  test('that exits fails its streams with a clear error, and the next stream opens in the next process', async () => {
    await using connection = connectStdio({
      command: process.execPath,
      args: [programs.path('server')],
    })
    const first = listener()
    const ended = connection.exchange(listen(1, tools), first.call)
    await first.has(1)
    process.kill(connection.process.pid ?? 0, 'SIGKILL')
    await expect(ended).rejects.toMatchObject({ name: 'StdioError', code: 'exited', signal: 'SIGKILL' })
    const controller = new AbortController()
    const second = listener(controller.signal)
    const again = connection.exchange(listen(1, tools), second.call)
    await second.has(1)
    expect(
      await connection.exchange(createRequest(2, 'tools/call', { name: 'change' }), listener().call),
    ).toHaveProperty('result')
    await second.has(2)
    expect(second.heard[1]).toMatchObject({ ...toolsChanged, params: { _meta: _meta(1) } })
    expect(first.heard).toHaveLength(1)
    controller.abort('enough')
    await expect(again).rejects.toBe('enough')
  })
})
