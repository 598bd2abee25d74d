import type { Log, LogRecord } from '@x/core'
import { contextKey, type Middleware, type ServerEvent, type ServerExtension, withContext } from '@x/exchange'
import { describe, expect, test } from 'vitest'
import { createServer, prompt, type ServerDefinition, tool } from './index.ts'
import { callOf, callTool, errorOf, requestOf } from './testing/ask.ts'
import { observer } from './testing/observer.ts'

const about = { name: 'demo', version: '1.0.0' }
const greet = tool('greet', { description: 'Greets', run: () => 'Hello' })

function serveObserved(definition: Partial<ServerDefinition> = {}) {
  const events: ServerEvent[] = []
  const extensions = [observer((event) => void events.push(event)), ...(definition.extensions ?? [])]
  const server = createServer({ ...about, tools: [greet], log: () => {}, ...definition, extensions })
  return { server, events }
}

describe('A server without an extension that observes', () => {
  test('has no `emit` for transports, and ignores the events of its extensions [OPS-004]', () => {
    let host: Parameters<NonNullable<ServerExtension['start']>>[0] | undefined
    const extension: ServerExtension = { extends: 'server', name: 'quiet', start: (given) => ((host = given), {}) }
    const server = createServer({ ...about, extensions: [extension] })
    expect(server.emit).toBeUndefined()
    host?.emit({ type: 'drain_started', runningCount: 0 })
  })
})

describe('An extension that observes', () => {
  test('needs no identifier, but capabilities need one', () => {
    const extension: ServerExtension = { extends: 'server', name: 'declared', capabilities: {} }
    expect(() => createServer({ ...about, extensions: [extension] })).toThrow(/give it one, as in "com.example\/name"/)
  })

  test('receives the events of transports and of other extensions, in their order', () => {
    const emitting: ServerExtension = {
      extends: 'server',
      name: 'emitting',
      start: (host) => ({ drain: () => (host.emit({ type: 'drain_ended', runningCount: 7 }), () => {}) }),
    }
    const { server, events } = serveObserved({ extensions: [emitting] })
    server.emit?.({ type: 'request_refused', transport: 'http', status: 403, reason: 'host' })
    server.drain()
    expect(events).toEqual([
      { type: 'request_refused', transport: 'http', status: 403, reason: 'host' },
      { type: 'drain_started', runningCount: 0 },
      { type: 'drain_ended', runningCount: 7 },
    ])
  })

  test('that throws changes no call, is logged, and does not keep events from another observer [OPS-005]', async () => {
    const broken = new Error('the observer broke')
    const { log, records } = collectRecords()
    const throwing = observer(() => {
      throw broken
    }, 'throwing')
    const { server, events } = serveObserved({ log, extensions: [throwing], limits: { calls: 1 } })
    server.drain()
    expect(records).toMatchObject([{ level: 'error', err: broken }])
    expect(events).toMatchObject([{ type: 'drain_started' }])
    expect(await callTool(server, 'greet')).toMatchObject({ content: [{ text: 'Hello' }] })
  })

  test('finds the values that its middleware added to a call', async () => {
    const key = contextKey<string>('com.example/observed')
    const middleware: Middleware = (next) => (request, call) => next(request, withContext(call, key, 'mine'))
    const seen: unknown[] = []
    const extension: ServerExtension = {
      extends: 'server',
      name: 'reading',
      start: () => ({
        middleware,
        observe: (event) => void (event.type === 'call_refused' && seen.push(event.call.context.get(key))),
      }),
    }
    const slow = tool('slow', { description: 'Waits', run: () => new Promise<string>(() => {}) })
    const limits = { calls: 1 }
    const server = createServer({ ...about, tools: [slow], log: () => {}, limits, extensions: [extension] })
    void server.exchange(requestOf('tools/call', { name: 'slow' }), callOf())
    await errorOf(server, 'tools/call', { name: 'slow' })
    expect(seen).toEqual(['mine'])
  })

  test.each([
    ['a quota of its caller', { limits: { calls: 1 } }, { reason: 'quota', limit: 'calls' }],
    [
      'a hard limit of the server',
      { shedding: { hardLimit: { running: 1 } } },
      { reason: 'overloaded', limit: 'hardLimit.running' },
    ],
  ] as const)('receives a call that is refused for %s', async (_, definition, refusal) => {
    const slow = tool('slow', { description: 'Waits', run: () => new Promise<string>(() => {}) })
    const { server, events } = serveObserved({ ...definition, tools: [slow] })
    void server.exchange(requestOf('tools/call', { name: 'slow' }), callOf())
    await errorOf(server, 'tools/call', { name: 'slow' })
    const subject = { call: expect.anything(), method: 'tools/call', name: 'slow' }
    expect(events).toEqual([{ type: 'call_refused', ...subject, ...refusal }])
  })

  test('receives errors and warnings as they are logged', async () => {
    const failure = new Error('the database is away')
    const failing = tool('failing', {
      description: 'Fails',
      run: () => {
        throw failure
      },
    })
    const { log, records } = collectRecords()
    const { server, events } = serveObserved({ log, tools: [failing] })
    await callTool(server, 'failing', {}, { id: 'seven' })
    server.log({ level: 'warn', code: 'rejected', message: 'A request was rejected' })
    server.log({ level: 'info', message: 'Listening' })
    expect(events.filter(({ type }) => type !== 'run')).toMatchObject([
      { type: 'error', error: failure, where: { method: 'tools/call', name: 'failing', requestId: 'seven' } },
      { type: 'warning', warning: { level: 'warn', code: 'rejected' } },
    ])
    expect(records).toHaveLength(3)
  })

  test('receives the beginning and the end of a drain, and a drain that the closing server ends', async () => {
    const { server, events } = serveObserved()
    const undrain = server.drain({ keepCalls: true })
    server.drain()
    undrain()
    await server.close()
    expect(events).toEqual([
      { type: 'drain_started', runningCount: 0 },
      { type: 'drain_ended', runningCount: 0 },
    ])
  })

  test('receives the beginning of a stream, and the reason of its end', async () => {
    const { server, events } = serveObserved()
    const left = new AbortController()
    const filter = { notifications: { toolsListChanged: true } }
    const ended = server.exchange(requestOf('subscriptions/listen', filter), callOf({ signal: left.signal }))
    const closed = server.exchange(requestOf('subscriptions/listen', filter, { id: 2 }), callOf())
    await expect.poll(() => events.length).toBe(2)
    left.abort()
    await ended.catch(() => {})
    await server.close()
    await closed
    expect(events).toMatchObject([
      { type: 'stream_opened', topicCount: 1 },
      { type: 'stream_opened', topicCount: 1 },
      { type: 'stream_closed', reason: 'client' },
      { type: 'stream_closed', reason: 'server' },
    ])
  })
})

describe('The method and name of a request', () => {
  test.each([
    ['tools/call', { name: 'greet' }, { method: 'tools/call', name: 'greet' }],
    ['tools/call', { name: 'invented' }, { method: 'tools/call', name: undefined }],
    ['prompts/get', { name: 'review' }, { method: 'prompts/get', name: 'review' }],
    ['prompts/get', { name: 'greet' }, { method: 'prompts/get', name: undefined }],
    ['resources/read', { uri: 'file:///invented' }, { method: 'resources/read', name: undefined }],
    ['tools/list', { name: 'greet' }, { method: 'tools/list', name: undefined }],
    ['com.example/ping', { name: 'greet' }, { method: 'com.example/ping', name: undefined }],
    ['com.example/invented', {}, undefined],
  ])('of %s with %j are those that the server has', async (method, params, offered) => {
    const seen: unknown[] = []
    const extension: ServerExtension = {
      extends: 'server',
      name: 'naming',
      start: (host) => ({
        methods: { 'com.example/ping': () => ({}) },
        middleware: (next) => (request, call) => (seen.push(host.offers(request)), next(request, call)),
      }),
    }
    const review = prompt('review', { run: () => 'Review' })
    const server = createServer({ ...about, tools: [greet], prompts: [review], extensions: [extension] })
    await server.exchange(requestOf(method, params), callOf())
    expect(seen).toEqual([offered])
  })
})

function collectRecords(): { readonly records: readonly LogRecord[]; readonly log: Log } {
  const records: LogRecord[] = []
  return { records, log: (record) => void records.push(record) }
}
