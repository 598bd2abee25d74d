import { createClient, type ClientExtension } from '@x/client'
import { contextKey, createCall, type ServerExtension, withContext } from '@x/exchange'
import { errorCodes, errorResponse, McpError } from '@x/schema'
import { type Context, createServer, tool } from '@x/server'
import { memoryStore } from '@x/state-codec'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { sessionsClient } from './client/sessions-client.ts'
import { sessions as createSessions } from './server/sessions.ts'
import { sessionKey } from './session-metadata.ts'
import {
  sendRequest,
  callIn,
  createSession,
  errorOf,
  createNoteTool,
  createNotesSessions,
  resultOf,
  createTestServer,
  sessionOfResult,
} from './testing/asking.ts'
import { host } from './testing/scripted.ts'

const ada = { principal: { subject: 'ada' } }

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length < 2) return [[...items]]
  return items.flatMap((item) => permutations(items.filter((other) => other !== item)).map((rest) => [item, ...rest]))
}

/** Rejects calls without a principal, and counts those that it lets pass. */
function guarding(): { readonly extension: ServerExtension<'guard'>; readonly passed: string[] } {
  const passed: string[] = []
  const extension: ServerExtension<'guard'> = {
    extends: 'server',
    name: 'guard',
    identifier: 'com.example/guard',
    needsPrincipal: true,
    middleware: (next) => async (request, call) => {
      if (call.principal === undefined) return errorResponse(request.id, new McpError(-32001, 'Who are you?'))
      passed.push(request.method)
      return next(request, call)
    },
  }
  return { extension, passed }
}

const tenantKey = contextKey<string>('com.example/tenant')

/** Sets a value that handlers read, and one in every result. */
const tenants: ServerExtension<'tenants', { readonly all: readonly string[] }> = {
  extends: 'server',
  name: 'tenants',
  identifier: 'com.example/tenants',
  capabilities: {},
  start: () => ({
    api: { all: ['north'] },
    methods: { 'com.example/tenants': () => ({ tenants: ['north'] }) },
    middleware: (next) => async (request, call) => {
      const response = await next(request, withContext(call, tenantKey, 'north'))
      if ('error' in response) return response
      const meta = response.result['_meta']
      const _meta = { ...(typeof meta === 'object' ? meta : {}), 'com.example/tenant': 'north' }
      return { ...response, result: { ...response.result, _meta } }
    },
  }),
}

describe('Sessions and two other extensions', () => {
  const outcomeOf = async (order: readonly string[]): Promise<unknown> => {
    const { sessions, reported } = createNotesSessions({ store: memoryStore() })
    const guard = guarding()
    const note = tool('note', {
      description: 'Notes a text',
      input: z.object({ text: z.string() }),
      async run({ text }, ctx: Context) {
        const session = sessions.of(ctx)
        session.setState({ notes: [...session.state.notes, text] })
        await ctx.step('work', () => 'done')
        return `${ctx.context.get(tenantKey)}: ${session.state.notes.join(' ')}`
      },
    })
    const all = new Map<string, ServerExtension>([
      ['sessions', sessions],
      ['guard', guard.extension],
      ['tenants', tenants],
    ])
    const extensions = order.flatMap((name) => all.get(name) ?? [])
    const server = createTestServer({ tools: [note], extensions, strictReplay: true })
    const session = await createSession(server, ada)
    const first = await callIn(server, session, 'note', { text: 'a' }, ada)
    const second = await callIn(server, first.session, 'note', { text: 'b' }, ada)
    const result = await resultOf(server, 'tools/list', {}, { ...ada, session: second.session })
    const other = await resultOf(server, 'com.example/tenants', {}, { ...ada, session })
    await resultOf(server, 'sessions/delete', {}, { ...ada, session })
    return {
      texts: [first.text, second.text],
      meta: Object.keys(result['_meta'] ?? {}).toSorted(),
      own: sessionOfResult(other).sessionId === session.sessionId,
      capabilities: (await resultOf(server, 'server/discover', {}, ada))['capabilities'],
      // Nobody learns whether a session exists without passing the guard.
      outside: await errorOf(server, 'tools/list', {}, { session }),
      create: await errorOf(server, 'sessions/create'),
      deleted: (await errorOf(server, 'tools/list', {}, { ...ada, session })).code,
      passed: guard.passed,
      reported: reported.length,
      needs: [server.needsPrincipal, server.singleProcess],
    }
  }

  test('behave alike in every order [SES-001 SES-002 SES-007 SES-011 SES-012]', async () => {
    const orders = permutations(['sessions', 'guard', 'tenants'])
    const [first, ...others] = await Promise.all(orders.map(outcomeOf))
    expect(orders).toHaveLength(6)
    expect(first).toMatchObject({
      texts: ['north: a', 'north: a b'],
      meta: ['com.example/tenant', sessionKey, 'io.modelcontextprotocol/serverInfo'].toSorted(),
      own: true,
      capabilities: { sessions: {}, extensions: { 'com.example/tenants': {} } },
      outside: { code: -32001 },
      create: { code: -32001 },
      deleted: -32043,
      reported: 1,
      needs: [true, undefined],
    })
    for (const outcome of others) expect(outcome).toEqual(first)
  })
})

describe('Two definitions of sessions at one server', () => {
  test('are an error that says what to do', () => {
    const [one, other] = [createSessions(), createSessions()]
    expect(() => createServer({ ...host, extensions: [one, other] })).toThrow(/two extensions of this name/)
  })
})

describe('The runs of one call', () => {
  test('have a state each: a value that a suspended run set is not kept, unless the last run sets it, too', async () => {
    const { sessions } = createNotesSessions()
    let runs = 0
    const once = tool('once', {
      description: 'Sets the state in its first run alone',
      async run(_args, ctx: Context) {
        runs += 1
        if (runs === 1) sessions.of(ctx).setState({ notes: ['first'] })
        await ctx.step('work', () => 'done')
        return 'ran'
      },
    })
    const server = createTestServer({ tools: [once], extensions: [sessions], strictReplay: true })
    const session = await createSession(server)
    const result = await resultOf(server, 'tools/call', { name: 'once', arguments: {} }, { session })
    expect([runs > 1, sessionOfResult(result).state]).toEqual([true, undefined])
  })

  test('see their state through a copy of the context too', async () => {
    const { sessions } = createNotesSessions()
    const copying = tool('copying', {
      description: 'Passes copies of its context on',
      run: (_args, ctx) => {
        sessions.of({ ...ctx }).setState({ notes: ['a'] })
        const { notes } = sessions.of({ ...ctx }).state
        sessions.of(ctx).setState({ notes: [...notes, 'b'] })
        return sessions.of({ ...ctx }).state.notes.join(' ')
      },
    })
    const server = createTestServer({
      tools: [copying, createNoteTool(sessions)],
      extensions: [sessions],
      strictReplay: false,
    })
    const called = await callIn(server, await createSession(server), 'copying')
    expect(called.text).toBe('a b')
    expect((await callIn(server, called.session, 'note', { text: 'c' })).text).toBe('a b c')
  })
})

describe('Errors of sessions', () => {
  test('reach the log of the server', async () => {
    const reported: unknown[] = []
    const sessions = createSessions()
    const log = ({ err }: { readonly err?: unknown }): void => void reported.push(err)
    const server = createTestServer({ extensions: [sessions], log })
    const error = await errorOf(server, 'tools/list', {}, { session: { sessionId: 'made-up' } })
    expect([error.code, reported]).toEqual([-32043, [expect.objectContaining({ code: 'malformed' })]])
  })

  test('leave a request without _meta to the server, also for the methods of sessions', async () => {
    const { sessions } = createNotesSessions()
    const { exchange } = createTestServer({ extensions: [sessions] })
    for (const method of ['sessions/create', 'sessions/delete']) {
      const response = await exchange({ jsonrpc: '2.0', id: 1, method, params: {} }, createCall())
      expect(response).toMatchObject({ error: { code: errorCodes.invalidParams } })
    }
  })

  test('reject a call that was cancelled before it began with its reason', async () => {
    const { sessions } = createNotesSessions()
    const server = createTestServer({ extensions: [sessions] })
    const session = await createSession(server)
    const signal = AbortSignal.abort('enough')
    for (const method of ['sessions/create', 'sessions/delete']) {
      await expect(sendRequest(server, method, {}, { session, signal })).rejects.toBe('enough')
    }
  })
})

test('a session of a client goes through its other extensions, which it ends with itself', async () => {
  const notes: string[] = []
  const noting: ClientExtension<'noting', undefined> = {
    extends: 'client',
    name: 'noting',
    identifier: 'com.example/noting',
    start: () => ({
      middleware: (next) => (request, call) => {
        notes.push(request.method)
        return next(request, call)
      },
      close: async () => void notes.push('closed'),
    }),
  }
  for (const extensions of [
    [sessionsClient(), noting],
    [noting, sessionsClient()],
  ] as const) {
    notes.length = 0
    const server = createTestServer({ tools: [], extensions: [createNotesSessions().sessions] })
    const client = createClient(server, { ...host, extensions })
    {
      await using session = await client.sessions.create()
      await session.request('server/discover', {})
    }
    expect(notes).toEqual(['sessions/create', 'server/discover', 'sessions/delete', 'closed'])
  }
})
