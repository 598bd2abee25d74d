import { errorCodes, type JsonObject, metaKeys } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { createServer, prompt, resource, resourceTemplate, type ServerOffers, tool, type LogRecord } from '../index.ts'
import { callTool, errorOf } from '../testing/ask.ts'
import {
  waitForListenResult,
  createManualBus,
  acknowledgedFilterOf,
  openListenStream,
  flushAsyncWork,
  startListenStream,
} from '../testing/listening.ts'

const about = { name: 'demo', version: '1.0.0' }
const read = () => 'text'
const hello = prompt('hello', { run: () => 'Hello' })
const echo = tool('echo', { description: 'Says it again', run: () => 'again' })
const offers: ServerOffers = {
  tools: [echo],
  prompts: [hello],
  resources: [resource('text://a', { name: 'a', read }), resource('text://b', { name: 'b', read })],
  resourceTemplates: [resourceTemplate('note://{id}', { name: 'note', read })],
}
const whole = () => createServer({ ...about, ...offers })
const everything = {
  toolsListChanged: true,
  promptsListChanged: true,
  resourcesListChanged: true,
  resourceSubscriptions: ['text://a', 'note://1'],
}

async function changeAll(server: ReturnType<typeof whole>): Promise<void> {
  for (const kind of ['tools', 'prompts', 'resources'] as const) await server.notifyListChanged(kind)
  for (const uri of ['text://a', 'text://b', 'note://1', 'note://2']) await server.notifyResourceUpdated(uri)
}

describe('a stream', () => {
  test.each([[1], ['one'], [0], ['']])(
    'with the id %j begins with its acknowledgement, and all that is sent on it names the request [SUB-002 SUB-003 SUB-006 BAS-062]',
    async (id) => {
      const server = whole()
      const stream = await openListenStream(server, everything, { id })
      expect(stream.messages).toEqual([
        {
          jsonrpc: '2.0',
          method: 'notifications/subscriptions/acknowledged',
          params: { _meta: { [metaKeys.subscriptionId]: id }, notifications: everything },
        },
      ])
      await changeAll(server)
      expect(stream.changes()).toEqual(['tools', 'prompts', 'resources', 'text://a', 'note://1'])
      for (const { params } of stream.messages)
        expect(params).toMatchObject({ _meta: { [metaKeys.subscriptionId]: id } })
    },
  )

  test.each<[JsonObject, readonly string[]]>([
    [{}, []],
    [{ toolsListChanged: true }, ['tools']],
    [{ toolsListChanged: false, promptsListChanged: true }, ['prompts']],
    [{ resourcesListChanged: true }, ['resources']],
    [{ resourceSubscriptions: [] }, []],
    [{ resourceSubscriptions: ['text://b'] }, ['text://b']],
    [{ resourceSubscriptions: ['note://2', 'text://a', 'note://2'] }, ['text://a', 'note://2']],
    [{ toolsListChanged: true, resourceSubscriptions: ['text://a'] }, ['tools', 'text://a']],
  ])('of %j receives the changes in its filter, and no others [SUB-001 SUB-007 TOL-009]', async (filter, heard) => {
    const server = whole()
    const stream = await openListenStream(server, filter)
    await changeAll(server)
    expect(stream.changes()).toEqual(heard)
  })

  test('says what changed in the form that the schema publishes', async () => {
    const server = whole()
    const stream = await openListenStream(server, everything, { id: 7 })
    await server.notifyListChanged('tools')
    await server.notifyResourceUpdated('note://1')
    const _meta = { [metaKeys.subscriptionId]: 7 }
    expect(stream.messages.slice(1)).toEqual([
      { jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: { _meta } },
      { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'note://1', _meta } },
    ])
  })

  test('carries nothing of other requests [SHT-020]', async () => {
    const talks = tool('talks', {
      description: 'Reports and logs',
      run: (_, ctx) => {
        ctx.progress(1)
        ctx.log('error', 'no')
        return ''
      },
    })
    const server = createServer({ ...about, tools: [talks] })
    const meta = { progressToken: 1, [metaKeys.logLevel]: 'debug' }
    const stream = await openListenStream(server, { toolsListChanged: true }, { id: 1, meta })
    await callTool(server, 'talks', {}, { id: 2, meta })
    expect(stream.changes()).toEqual([])
  })

  test('is one of many, also of callers with the same ids, and each receives only the changes in its filter', async () => {
    const server = whole()
    const filters = [{ toolsListChanged: true }, { promptsListChanged: true }, { toolsListChanged: true }]
    const streams = await Promise.all(filters.map((filter) => openListenStream(server, filter, { id: 1 })))
    await server.notifyListChanged('tools')
    streams[0]?.abort()
    await server.notifyListChanged('tools')
    await server.notifyListChanged('prompts')
    expect(streams.map((stream) => stream.changes())).toEqual([['tools'], ['prompts'], ['tools', 'tools']])
  })

  test('leaves nothing behind for the next one of the same id [SUB-012]', async () => {
    const server = whole()
    const first = await openListenStream(server, everything)
    first.abort()
    await first.response
    const second = await openListenStream(server, { promptsListChanged: true })
    await changeAll(server)
    expect([first.changes(), second.changes()]).toEqual([[], ['prompts']])
  })

  test('of which the reader fails ends alone', async () => {
    const reported: unknown[] = []
    const server = createServer({ ...about, ...offers, log: ({ err }) => void reported.push(err) })
    let broken = false
    const failure = new Error('the reader fails')
    const failing = await openListenStream(
      server,
      { toolsListChanged: true },
      {
        notify: () => {
          if (broken) throw failure
        },
      },
    )
    const other = await openListenStream(server, { toolsListChanged: true })
    broken = true
    await server.notifyListChanged('tools')
    expect(await failing.response).toMatchObject({ error: { code: errorCodes.internal, message: 'Internal error' } })
    expect(reported).toEqual([failure])
    expect(other.changes()).toEqual(['tools'])
  })
})

describe('a stream ends in good order', () => {
  test('with a result that contains its id, when the server stops it [SUB-009 SUB-010]', async () => {
    const server = whole()
    const stream = await openListenStream(server, everything, { id: 'mine' })
    stream.abort(new Error('The server is stopping'))
    expect(await waitForListenResult(stream)).toEqual({
      resultType: 'complete',
      _meta: { [metaKeys.serverInfo]: about, [metaKeys.subscriptionId]: 'mine' },
    })
    await changeAll(server)
    expect(stream.changes()).toEqual([])
  })

  test('in the middle of its acknowledgement', async () => {
    const controller = new AbortController()
    const { signal } = controller
    const stream = await openListenStream(whole(), everything, { signal, notify: () => controller.abort() })
    expect(await waitForListenResult(stream)).toMatchObject({ resultType: 'complete' })
  })
})

describe('the acknowledgement', () => {
  const some: [string, ServerOffers, JsonObject][] = [
    ['no prompts', { tools: [], resources: [] }, { toolsListChanged: true, resourcesListChanged: true }],
    ['nothing', {}, {}],
    ['an empty list', { prompts: [] }, { promptsListChanged: true }],
  ]
  test.each(some)('of a server with %s leaves out what it does not have [SUB-004]', async (_, given, honoured) => {
    const server = createServer({ ...about, ...given })
    expect(acknowledgedFilterOf(await openListenStream(server, everything))).toEqual(honoured)
  })

  test('leaves out resources that are unknown, and those that are hidden, alike [SUB-004]', async () => {
    const visibleTo = (principal: { subject: string } | undefined) => principal?.subject === 'ada'
    const secrets = {
      resources: [resource('text://a', { name: 'a', read }), resource('text://secret', { name: 's', read, visibleTo })],
      resourceTemplates: [resourceTemplate('secret://{id}', { name: 's', read, visibleTo })],
    }
    const server = createServer({ ...about, ...secrets })
    const resourceSubscriptions = ['text://none', 'text://secret', 'secret://1', 'secret://1/2', 'text://a', '']
    const filter = { resourceSubscriptions }
    const [ada, bob, nobody] = [
      await openListenStream(server, filter, { principal: { subject: 'ada' } }),
      await openListenStream(server, filter, { principal: { subject: 'bob' } }),
      await openListenStream(server, filter),
    ]
    expect([ada, bob, nobody].map(acknowledgedFilterOf)).toEqual([
      { resourceSubscriptions: ['text://secret', 'secret://1', 'text://a'] },
      { resourceSubscriptions: ['text://a'] },
      { resourceSubscriptions: ['text://a'] },
    ])
    await server.notifyResourceUpdated('text://secret')
    await server.notifyResourceUpdated('secret://1')
    await server.notifyResourceUpdated('text://none')
    expect([ada, bob, nobody].map((stream) => stream.changes())).toEqual([['text://secret', 'secret://1'], [], []])
  })

  test('leaves out what this revision does not know', async () => {
    const filter = { toolsListChanged: true, 'com.example/x': ['y'], __proto__: null, constructor: true }
    expect(acknowledgedFilterOf(await openListenStream(whole(), filter))).toEqual({ toolsListChanged: true })
  })

  test.each([
    [{ toolsListChanged: 'yes' }, 'toolsListChanged'],
    [{ resourceSubscriptions: 'text://a' }, 'resourceSubscriptions'],
    [{ resourceSubscriptions: [1] }, 'resourceSubscriptions'],
  ])('is not sent for %j, which is refused by name', async (filter, named) => {
    const error = await errorOf(whole(), 'subscriptions/listen', { notifications: filter })
    expect(error).toMatchObject({ code: errorCodes.invalidParams, message: expect.stringContaining(named) })
  })
})

describe('update', () => {
  test.each<[string, ServerOffers, readonly string[]]>([
    ['tools', { tools: [] }, ['tools']],
    ['prompts', { prompts: [] }, ['prompts']],
    ['resources', { resources: [] }, ['resources']],
    ['templates', { resourceTemplates: [] }, ['resources']],
    [
      'all of them',
      { tools: [], prompts: [], resources: [], resourceTemplates: [] },
      ['tools', 'prompts', 'resources'],
    ],
    ['nothing', {}, []],
  ])('of %s notifies the subscribers [TOL-009]', async (_, given, heard) => {
    const server = whole()
    const stream = await openListenStream(server, everything)
    server.update(given)
    expect(stream.changes()).toEqual(heard)
  })

  test('notifies no stream when it is refused', async () => {
    const server = whole()
    const stream = await openListenStream(server, everything)
    expect(() => server.update({ tools: [echo, echo] })).toThrow('twice')
    expect(stream.changes()).toEqual([])
  })

  test('succeeds although the bus fails, and logs the failure', async () => {
    const reported: unknown[] = []
    const failure = new Error('the bus is away')
    const bus = createManualBus({ publish: () => Promise.reject(failure) })
    const log = ({ err, method }: LogRecord) => void reported.push({ err, method })
    const server = createServer({ ...about, ...offers, subscriptions: { bus }, log })
    server.update({ tools: [] })
    await flushAsyncWork()
    expect(reported).toEqual([{ err: failure, method: 'notifications/tools/list_changed' }])
    await expect(server.notifyListChanged('tools')).rejects.toBe(failure)
    await expect(server.notifyResourceUpdated('text://a')).rejects.toBe(failure)
    expect(bus.published).toEqual(['tools', 'tools', 'resource:text://a'])
  })

  test('notifies open streams, which keep their accepted filter but not the old definitions', async () => {
    const bus = createManualBus({ atOnce: true })
    const server = createServer({ ...about, ...offers, subscriptions: { bus } })
    const stream = await openListenStream(server, everything)
    server.update({ resources: [] })
    bus.change('resource:text://a')
    expect(stream.changes()).toEqual(['text://a'])
  })
})

describe('a server without subscriptions', () => {
  const server = createServer({ ...about, ...offers, subscriptions: false })

  test('says that the method is not found, and why', async () => {
    const error = await errorOf(server, 'subscriptions/listen', { notifications: {} })
    expect(error).toMatchObject({
      code: errorCodes.methodNotFound,
      message: expect.stringContaining('the server has no subscriptions'),
    })
  })

  test('accepts notifications of changes, and does nothing', async () => {
    await server.notifyListChanged('tools')
    await server.notifyResourceUpdated('text://a')
    server.update({ tools: [] })
    await flushAsyncWork()
  })
})

test('a stream whose call was cancelled before it began is not opened', async () => {
  const bus = createManualBus({ atOnce: true })
  const server = createServer({ ...about, ...offers, subscriptions: { bus } })
  const reason = new Error('too late')
  const stream = startListenStream(server, everything, { signal: AbortSignal.abort(reason) })
  await expect(stream.response).rejects.toBe(reason)
  expect([stream.messages, bus.attempts]).toEqual([[], []])
})
