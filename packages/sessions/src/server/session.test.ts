import { type Context, inputRequired, prompt, resource, tool } from '@x/server'
import { memoryStore, singleUseState } from '@x/state-codec'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { platformRuntime, type LogRecord } from '@x/core'
import { errorCodes, isJsonObject, type JsonObject } from '@x/schema'
import {
  callIn,
  createCodec,
  createSession,
  errorOf,
  createNotesSessions,
  resultOf,
  createTestServer,
  sessionOfResult,
  textOf,
} from '../testing/asking.ts'
import { sessions as createSessions } from './sessions.ts'

const name = z.object({ name: z.string() })

describe('A call that asks in the middle, within a session', () => {
  const setUp = () => {
    const { sessions } = createNotesSessions()
    const asking = tool('asking', {
      description: 'Notes, asks, and notes',
      async run(_args, ctx: Context) {
        const session = sessions.of(ctx)
        const before = session.state.notes.length
        session.setState({ notes: [...session.state.notes, 'first'] })
        const answer = await ctx.elicit('name', { message: 'Who?', schema: name })
        session.setState({ notes: [...session.state.notes, answer.name] })
        return `${before}: ${session.state.notes.join(' ')}`
      },
    })
    const note = tool('note', {
      description: 'Notes',
      run: (_args, ctx) => {
        const session = sessions.of(ctx)
        session.setState({ notes: [...session.state.notes, 'meanwhile'] })
        return 'noted'
      },
    })
    const state = createCodec(platformRuntime)
    const instance = () => createTestServer({ tools: [asking, note], state, extensions: [sessions] })
    return { one: instance(), other: instance() }
  }
  const answered = (asked: JsonObject): JsonObject => ({
    name: 'asking',
    arguments: {},
    requestState: asked.requestState,
    inputResponses: { name: { action: 'accept', content: { name: 'Ada' } } },
  })

  test('names the session when it asks, and changes nothing until it is complete [SES-007]', async () => {
    const { one, other } = setUp()
    const session = await createSession(one)
    const asked = await resultOf(one, 'tools/call', { name: 'asking', arguments: {} }, { session })
    expect(asked.resultType).toBe('input_required')
    expect(sessionOfResult(asked)).toEqual({ sessionId: session.sessionId, expiresAt: session.expiresAt })
    const result = await resultOf(other, 'tools/call', answered(asked), { session })
    expect(textOf(result)).toBe('0: first Ada')
    expect(sessionOfResult(result).state).toEqual(expect.any(String))
  })

  test('continues with the current state of the session, although the question was sent with another state', async () => {
    const { one, other } = setUp()
    const session = await createSession(one)
    const asked = await resultOf(one, 'tools/call', { name: 'asking', arguments: {} }, { session })
    const { session: changed } = await callIn(other, session, 'note')
    const result = await resultOf(other, 'tools/call', answered(asked), { session: changed })
    expect(textOf(result)).toBe('1: meanwhile first Ada')
  })

  test('says what it wants in the explicit form, with the session [SES-007]', async () => {
    const { sessions } = createNotesSessions()
    const explicit = tool('explicit', {
      description: 'Asks',
      run: (_args, ctx) => {
        sessions.of(ctx).setState({ notes: ['x'] })
        return inputRequired({ requests: {}, state: 1 })
      },
    })
    const server = createTestServer({ tools: [explicit], state: createCodec(platformRuntime), extensions: [sessions] })
    const session = await createSession(server)
    const result = await resultOf(server, 'tools/call', { name: 'explicit' }, { session })
    expect([result.resultType, sessionOfResult(result)]).toEqual([
      'input_required',
      { sessionId: session.sessionId, expiresAt: session.expiresAt },
    ])
  })
})

test('what an earlier run of the handler set is left behind, so that nothing is counted twice', async () => {
  const { sessions } = createNotesSessions()
  let runs = 0
  const stepping = tool('stepping', {
    description: 's',
    async run(_args, ctx: Context) {
      runs += 1
      const session = sessions.of(ctx)
      session.setState({ notes: [...session.state.notes, 'once'] })
      await ctx.step('work', () => 'done')
      return session.state.notes.join(' ')
    },
  })
  const server = createTestServer({ tools: [stepping], strictReplay: true, extensions: [sessions] })
  const called = await callIn(server, await createSession(server), 'stepping')
  expect([called.text, runs > 1]).toEqual(['once', true])
  expect((await callIn(server, called.session, 'stepping')).text).toBe('once once')
})

describe('The state of a session', () => {
  test('is the value that the schema returns, and is rejected where the schema rejects it', async () => {
    const sessions = createSessions({
      state: { schema: z.object({ count: z.number().max(1) }), initial: { count: 0 } },
    })
    const count = tool('count', {
      description: 'c',
      run: (_args, ctx) => {
        const session = sessions.of(ctx)
        session.setState({ count: session.state.count + 1 })
        return `${session.state.count} at ${session.revision}`
      },
    })
    const errors: unknown[] = []
    const log = ({ err }: LogRecord): void => void errors.push(err)
    const server = createTestServer({ tools: [count], extensions: [sessions], log })
    const first = await callIn(server, await createSession(server), 'count')
    expect(first.text).toBe('1 at 0')
    expect((await callIn(server, first.session, 'count')).text).toBe('Tool "count" failed')
    expect(String(errors)).toContain('Not a session state: count:')
  })

  test('may only have a schema that answers at once', () => {
    const schema = z.object({ count: z.number() }).refine(async () => true)
    const state = { schema, initial: { count: 0 } }
    expect(() => createSessions({ state })).toThrow('must be synchronous')
  })

  test('needs none: a session without state has its id', async () => {
    const sessions = createSessions()
    const show = tool('show', { description: 's', run: (_args, ctx) => sessions.of(ctx).id })
    const server = createTestServer({ tools: [show], extensions: [sessions] })
    const session = await createSession(server)
    expect((await callIn(server, session, 'show')).text).toBe(session.sessionId)
  })
})

describe('A definition for sessions alone', () => {
  const setUp = () => {
    const { sessions } = createNotesSessions()
    const visibleTo = sessions.isInSession
    const rich = sessions.when(({ state }) => state.notes.includes('rich'))
    const note = tool('note', {
      description: 'n',
      run: (_args, ctx) => {
        sessions.of(ctx).setState({ notes: ['rich'] })
        return 'noted'
      },
    })
    return createTestServer({
      tools: [
        note,
        tool('within', { description: 'w', visibleTo, run: () => 'ran' }),
        tool('rich', { description: 'r', visibleTo: rich, run: () => 'ran' }),
      ],
      prompts: [prompt('within', { description: 'w', visibleTo, run: () => 'ran' })],
      resources: [resource('test://within', { name: 'w', visibleTo, read: () => 'ran' })],
      extensions: [sessions],
    })
  }
  const namesIn = (result: JsonObject, field: string): unknown[] => {
    const entries = result[field]
    return Array.isArray(entries) ? entries.map((entry) => (isJsonObject(entry) ? entry.name : undefined)) : []
  }

  test.each([
    ['tools/list', 'tools', ['note'], ['note', 'within']],
    ['prompts/list', 'prompts', [], ['within']],
    ['resources/list', 'resources', [], ['w']],
  ])('stands in %s within a session [SES-018]', async (method, field, outside, within) => {
    const server = setUp()
    const session = await createSession(server)
    const [without, with_] = [await resultOf(server, method), await resultOf(server, method, {}, { session })]
    expect([namesIn(without, field), namesIn(with_, field)]).toEqual([outside, within])
    expect([without.cacheScope, with_.cacheScope]).toEqual(['private', 'private'])
  })

  test.each([
    ['tools/call', { name: 'within' }],
    ['prompts/get', { name: 'within' }],
    ['resources/read', { uri: 'test://within' }],
  ])('is used through %s within a session, and does not exist outside [SES-018]', async (method, params) => {
    const server = setUp()
    const session = await createSession(server)
    expect(JSON.stringify(await resultOf(server, method, params, { session }))).toContain('ran')
    expect((await errorOf(server, method, params)).code).toBe(errorCodes.invalidParams)
  })

  test('may wait for the new value of the session [SES-018]', async () => {
    const server = setUp()
    const session = await createSession(server)
    await errorOf(server, 'tools/call', { name: 'rich' }, { session })
    const { session: after } = await callIn(server, session, 'note')
    expect(namesIn(await resultOf(server, 'tools/list', {}, { session: after }), 'tools')).toContain('rich')
    expect((await callIn(server, after, 'rich')).text).toBe('ran')
  })

  test('that everybody sees says that it needs a session [SES-018]', async () => {
    const server = setUp()
    const error = await errorOf(server, 'tools/call', { name: 'note' })
    expect([error.code, error.message]).toEqual([errorCodes.invalidParams, expect.stringContaining('sessions/create')])
  })
})

test('at a server whose tokens open once, a session and its state serve every call', async () => {
  const { sessions } = createNotesSessions()
  const note = tool('note', { description: 'Notes', run: (_args, ctx) => String(sessions.of(ctx).state.notes.length) })
  const state = singleUseState(createCodec(platformRuntime), memoryStore())
  const server = createTestServer({ tools: [note], state, extensions: [sessions] })
  const session = await createSession(server)
  for (let call = 0; call < 3; call += 1)
    expect(textOf(await resultOf(server, 'tools/call', { name: 'note', arguments: {} }, { session }))).toBe('0')
})
