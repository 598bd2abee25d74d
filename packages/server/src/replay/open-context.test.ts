import { type ClientCapabilities, type LoggingLevel, metaKeys, protocolVersion, type RpcNotification } from '@x/schema'
import { shapes, zodOf } from '@x/schema/zod'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { internalSettings } from '../internals.ts'
import { type ClientFeature, type Context, createServer, type ServerDefinition, tool, resource } from '../index.ts'
import { type AskOptions, callOf, callTool, requestOf, textOf, createLogCollector } from '../testing/ask.ts'
import { createManualBus, openListenStream } from '../testing/listening.ts'

/** Runs a tool, and gives the messages that it sent. */
async function messagesOf(
  run: (ctx: Context) => unknown,
  options: AskOptions,
  settings: Partial<ServerDefinition> = {},
): Promise<RpcNotification[]> {
  const messages: RpcNotification[] = []
  const body = async (_: unknown, ctx: Context) => {
    await run(ctx)
    return 'done'
  }
  const server = createServer({
    name: 'demo',
    version: '1',
    tools: [tool('t', { description: 't', run: body })],
    ...settings,
  })
  await callTool(server, 't', {}, { ...options, notify: (message) => void messages.push(message) })
  for (const message of messages) {
    if (message.method === 'notifications/progress') zodOf(shapes.progressNotificationParams).parse(message.params)
    else zodOf(shapes.loggingMessageNotificationParams).parse(message.params)
  }
  return messages
}
const progressed = (messages: RpcNotification[]) => messages.map(({ params }) => params?.['progress'])

describe('progress', () => {
  const asked = { meta: { progressToken: 'p' } }

  test.each(['p', 7, 0, ''])(
    'goes out under the token %j that the request brought, without an id [BAS-026 PRG-004 PRG-005]',
    async (progressToken) => {
      const run = (ctx: Context) => {
        ctx.progress(0)
        ctx.progress(0.5, 2)
        ctx.progress(2, 2, 'Done')
      }
      expect(await messagesOf(run, { meta: { progressToken } })).toEqual([
        { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress: 0 } },
        { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress: 0.5, total: 2 } },
        {
          jsonrpc: '2.0',
          method: 'notifications/progress',
          params: { progressToken, progress: 2, total: 2, message: 'Done' },
        },
      ])
    },
  )

  test('is not sent to those who did not ask [PRG-005]', async () => {
    expect(await messagesOf((ctx) => ctx.progress(1), {})).toEqual([])
  })

  test('only ever increases [PRG-003]', async () => {
    const run = (ctx: Context) => {
      for (const value of [1, 1, 0, 2, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 3]) ctx.progress(value)
    }
    expect(progressed(await messagesOf(run, asked))).toEqual([1, 2, 3])
  })

  test('leaves out a total that JSON cannot carry', async () => {
    const messages = await messagesOf((ctx) => ctx.progress(1, Number.POSITIVE_INFINITY), asked)
    expect(messages[0]?.params).toEqual({ progressToken: 'p', progress: 1 })
  })

  test('is limited to so many in a second, together with logs [PRG-008]', async () => {
    let time = 0
    const run = (ctx: Context) => {
      for (let value = 1; value <= 10; value++) {
        ctx.progress(value)
        time += 250
      }
    }
    const messages = await messagesOf(run, asked, {
      ...internalSettings({ maxNotificationsPerSecond: 2 }),
      runtime: { monotonicNow: () => time },
    })
    expect(progressed(messages)).toEqual([1, 2, 5, 6, 9, 10])
  })
})

describe('logs', () => {
  const levels: LoggingLevel[] = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']
  const all = (ctx: Context) => {
    for (const level of levels) ctx.log(level, { level }, 'test')
  }

  test.each(levels)('at or above %s are sent when the request has that level', async (wanted) => {
    const messages = await messagesOf(all, { meta: { [metaKeys.logLevel]: wanted } })
    expect(messages).toEqual(
      levels.slice(levels.indexOf(wanted)).map((level) => ({
        jsonrpc: '2.0',
        method: 'notifications/message',
        params: { level, logger: 'test', data: { level } },
      })),
    )
  })

  test('are not sent to those who did not ask, even when they asked for progress', async () => {
    expect(await messagesOf(all, {})).toEqual([])
    expect(await messagesOf(all, { meta: { progressToken: 1 } })).toEqual([])
  })
})

describe('after the end of a call', () => {
  const meta = { progressToken: 1, [metaKeys.logLevel]: 'debug' }
  const keep = () => {
    const kept: Context[] = []
    const run = async (_: unknown, ctx: Context) => {
      kept.push(ctx)
      if (kept.length === 2) await new Promise(() => {})
      return 'done'
    }
    return { kept, server: createServer({ name: 'demo', version: '1', tools: [tool('t', { description: 't', run })] }) }
  }

  test('no notification about it is sent [PRG-006 PRG-009]', async () => {
    const { kept, server } = keep()
    const call = callOf()
    await server.exchange(requestOf('tools/call', { name: 't' }, { meta }), call)
    kept[0]?.progress(1)
    kept[0]?.log('error', 'late')
    expect(call.messages).toEqual([])
  })

  test('no message is sent for a cancelled call, although its handler continues', async () => {
    const { kept, server } = keep()
    await server.exchange(requestOf('tools/call', { name: 't' }), callOf())
    const controller = new AbortController()
    const call = callOf({ signal: controller.signal })
    void server.exchange(requestOf('tools/call', { name: 't' }, { meta }), call)
    kept[1]?.progress(1)
    controller.abort('enough')
    kept[1]?.progress(2)
    kept[1]?.log('error', 'late')
    expect(progressed(call.messages)).toEqual([1])
  })
})

describe('the client', () => {
  const can = async (feature: ClientFeature, declared: ClientCapabilities) => {
    const ask = tool('t', { description: 't', run: (_, ctx) => String(ctx.can(feature)) })
    const server = createServer({ name: 'demo', version: '1', tools: [ask] })
    return textOf(await callTool(server, 't', {}, { meta: { [metaKeys.clientCapabilities]: declared } }))
  }
  const cases: [ClientFeature, ClientCapabilities, boolean][] = [
    ['sampling', {}, false],
    ['sampling', { sampling: {} }, true],
    ['sampling.tools', { sampling: {} }, false],
    ['sampling.tools', { sampling: { tools: {} } }, true],
    ['sampling.context', { sampling: { context: {} } }, true],
    ['roots', { roots: {} }, true],
    ['elicitation', { elicitation: {} }, true],
    ['elicitation.form', { elicitation: {} }, true],
    ['elicitation.form', { elicitation: { url: {} } }, false],
    ['elicitation.url', { elicitation: {} }, false],
    ['elicitation.url', { elicitation: { url: {} } }, true],
    ['com.example/a', { extensions: { 'com.example/a': {} } }, true],
    ['com.example/a', { extensions: { 'com.example/b': {} } }, false],
  ]

  test.each(cases)('can do %s with %j: %s [BAS-056]', async (feature, declared, expected) => {
    expect(await can(feature, declared)).toBe(String(expected))
  })

  test('is described by the request, and the principal by the transport', async () => {
    const seen: Context[] = []
    const look = tool('t', { description: 't', run: (_, ctx) => String(seen.push(ctx)) })
    const server = createServer({ name: 'demo', version: '1', tools: [look] })
    const info = { name: 'host', version: '2' }
    const controller = new AbortController()
    const principal = { subject: 'alice' }
    const meta = { [metaKeys.clientInfo]: info, traceparent: '00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01' }
    await callTool(server, 't', {}, { meta, principal, signal: controller.signal })
    await callTool(server, 't')
    expect(seen[0]).toMatchObject({ client: { version: protocolVersion, info, capabilities: {} }, meta })
    expect(seen[0]?.principal).toBe(principal)
    expect(seen[0]?.signal.aborted).toBe(false)
    expect(seen[1]).toMatchObject({ principal: undefined, client: { info: undefined } })
  })
})

const about = { name: 'demo', version: '1.0.0' }
const notes = resource('text://notes', { name: 'Notes', read: () => '' })
const filter = { resourcesListChanged: true, resourceSubscriptions: ['text://notes'] }
const change = tool('change', {
  description: 'Changes the notes',
  input: z.object({ steps: z.boolean() }),
  async run({ steps }, ctx) {
    const notify = () => ctx.notifyResourceUpdated('text://notes')
    await (steps ? ctx.step('save', notify) : notify())
    await ctx.notifyListChanged('resources')
    return 'changed'
  },
})

test.each([false, true])(
  'a handler notifies subscribers of its changes, within a step (%s) or beside it',
  async (steps) => {
    const server = createServer({ ...about, tools: [change], resources: [notes], strictReplay: false })
    const stream = await openListenStream(server, filter)
    expect(textOf(await callTool(server, 'change', { steps }))).toBe('changed')
    expect(stream.changes()).toEqual(['text://notes', 'resources'])
  },
)

test('a failure of the change bus is logged, and the call that made the change continues', async () => {
  const { reported, log } = createLogCollector()
  const failure = new Error('the bus is away')
  const bus = createManualBus({ publish: () => Promise.reject(failure) })
  const options = { subscriptions: { bus }, strictReplay: false, log }
  const server = createServer({ ...about, tools: [change], resources: [notes], ...options })
  expect(textOf(await callTool(server, 'change', { steps: false }))).toBe('changed')
  expect(reported).toEqual([
    { error: failure, where: { method: 'notifications/resources/updated' } },
    { error: failure, where: { method: 'notifications/resources/list_changed' } },
  ])
})

test('a server without subscriptions notifies no client', async () => {
  const server = createServer({ ...about, tools: [change], resources: [notes], subscriptions: false })
  expect(textOf(await callTool(server, 'change', { steps: true }))).toBe('changed')
})
