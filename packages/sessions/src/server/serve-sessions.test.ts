import { callHeadersKey, createCall, withContext } from '@x/exchange'
import { errorCodes, metaKeys } from '@x/schema'
import { type Context, tool } from '@x/server'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { sessions as createSessions } from './sessions.ts'
import { sessionKey, sessionNotFoundCode } from '../session-metadata.ts'
import {
  sendRequest,
  callIn,
  createCodec,
  createSession,
  errorOf,
  createManualClock,
  createNoteTool,
  createNotesSessions,
  onHost,
  resultOf,
  createTestServer,
  createNotesServer,
  sessionOfResult,
} from '../testing/asking.ts'

describe('A server with sessions', () => {
  test('declares the capability beside those that it has [SES-001]', async () => {
    const { server, plain } = createNotesServer()
    const { capabilities } = await resultOf(server, 'server/discover')
    expect(capabilities).toMatchObject({ sessions: {}, tools: {} })
    expect((await resultOf(plain, 'server/discover')).capabilities).not.toHaveProperty('sessions')
  })

  test('takes clients that declare sessions among the experimental capabilities [SES-001]', async () => {
    const { server } = createNotesServer()
    const meta = { [metaKeys.clientCapabilities]: { experimental: { sessions: {} } } }
    expect(await createSession(server, { meta })).toHaveProperty('sessionId')
  })

  test('passes requests without a session on as they are, and their answers back', async () => {
    const { server, plain } = createNotesServer()
    for (const [method, params] of [
      ['tools/call', { name: 'greet' }],
      ['tools/list', {}],
    ] as const) {
      expect(await resultOf(server, method, params)).toEqual(await resultOf(plain, method, params))
    }
  })
})

describe('A request of a session', () => {
  test('is answered with the same id for every method, and the id never changes [SES-006 SES-007 SES-008]', async () => {
    const { server } = createNotesServer()
    const created = await createSession(server)
    let session = created
    for (const text of ['a', 'b', 'c']) ({ session } = await callIn(server, session, 'note', { text }))
    expect(session.sessionId).toBe(created.sessionId)
    for (const method of ['server/discover', 'tools/list']) {
      expect(sessionOfResult(await resultOf(server, method, {}, { session })).sessionId).toBe(created.sessionId)
    }
  })

  test('has the state that the last one left, at any instance that has the same keys [SES-006]', async () => {
    const { sessions } = createNotesSessions()
    const instance = () => createTestServer({ tools: [createNoteTool(sessions)], extensions: [sessions] })
    const [one, other] = [instance(), instance()]
    let session = await createSession(one)
    const texts: string[] = []
    for (const [server, text] of [
      [other, 'a'],
      [one, 'b'],
      [other, 'c'],
    ] as const) {
      const called = await callIn(server, session, 'note', { text })
      session = called.session
      texts.push(called.text)
    }
    expect(texts).toEqual(['a', 'a b', 'a b c'])
  })

  test('brings a new state only when a handler set one', async () => {
    const { server } = createNotesServer()
    const { session } = await callIn(server, await createSession(server), 'note', { text: 'a' })
    expect(session.state).toEqual(expect.any(String))
    expect(sessionOfResult(await resultOf(server, 'tools/call', { name: 'greet' }, { session }))).not.toHaveProperty(
      'state',
    )
  })

  test('has a result that no cache may share', async () => {
    const { server } = createNotesServer()
    const session = await createSession(server)
    expect(await resultOf(server, 'tools/list', {}, { session })).toMatchObject({ cacheScope: 'private' })
    expect(await resultOf(server, 'tools/list')).toMatchObject({ cacheScope: 'public' })
  })

  test('keeps the _meta of the handler, but no session that the handler invented [SES-008]', async () => {
    const { sessions } = createNotesSessions()
    const forging = tool('forging', {
      description: 'Names another session',
      run: () => ({ content: [], _meta: { 'com.example/a': 1, [sessionKey]: { sessionId: 'other' } } }),
    })
    const server = createTestServer({ tools: [forging], extensions: [sessions] })
    const session = await createSession(server)
    const result = await resultOf(server, 'tools/call', { name: 'forging' }, { session })
    expect(result._meta).toMatchObject({ 'com.example/a': 1, [sessionKey]: { sessionId: session.sessionId } })
  })

  test.each([
    ['throws', () => Promise.reject(new Error('no'))],
    ['says that it failed', () => ({ content: [], isError: true })],
  ])('leaves the session as it was when its tool %s', async (_title, end) => {
    const { sessions } = createNotesSessions()
    const failing = tool('failing', {
      description: 'Sets, and fails',
      run: (_args, ctx) => {
        sessions.of(ctx).setState({ notes: ['x'] })
        return end()
      },
    })
    const server = createTestServer({ tools: [failing], extensions: [sessions] })
    const session = await createSession(server)
    const result = await resultOf(server, 'tools/call', { name: 'failing' }, { session })
    expect(result.isError).toBe(true)
    expect(sessionOfResult(result)).toEqual({ sessionId: session.sessionId, expiresAt: session.expiresAt })
  })

  test('that fails is answered with the error alone', async () => {
    const { server } = createNotesServer()
    const session = await createSession(server)
    const error = await errorOf(server, 'tools/call', { name: 'nothing' }, { session })
    expect([error.code, JSON.stringify(error).includes(session.sessionId)]).toEqual([errorCodes.invalidParams, false])
  })

  test('that is cancelled rejects with the reason of its signal', async () => {
    const { sessions } = createNotesSessions()
    const controller = new AbortController()
    const waiting = tool('waiting', {
      description: 'Waits',
      run: (_args, ctx: Context) => {
        controller.abort('enough')
        return new Promise<never>((_, reject) => reject(ctx.signal.reason))
      },
    })
    const server = createTestServer({ tools: [waiting], extensions: [sessions] })
    const session = await createSession(server)
    const pending = sendRequest(server, 'tools/call', { name: 'waiting' }, { session, signal: controller.signal })
    await expect(pending).rejects.toBe('enough')
  })

  test('may name its session in the header as well, and then it must be the same [SES-017]', async () => {
    const { server } = createNotesServer()
    const session = await createSession(server)
    const answered = new Map<string, string>()
    const context = (id: string) => {
      const headers = {
        get: (name: string) => new Map([['mcp-session-id', id]]).get(name.toLowerCase()),
        forEach: () => {},
        setResponseHeader: (name: string, value: string) => void answered.set(name, value),
      }
      return withContext(createCall(), callHeadersKey, headers).context
    }
    await resultOf(server, 'tools/call', { name: 'greet' }, { session, context: context(session.sessionId) })
    expect([...answered]).toEqual([['Mcp-Session-Id', session.sessionId]])
    const error = await errorOf(server, 'tools/call', { name: 'greet' }, { session, context: context('other') })
    expect(error.code).toBe(errorCodes.headerMismatch)
  })

  test('whose state cannot be sealed fails without details, and the reason is logged', async () => {
    const { server, reported } = createNotesServer()
    const session = await createSession(server)
    const args = { name: 'note', arguments: { text: 'x'.repeat(40_000) } }
    expect(await errorOf(server, 'tools/call', args, { session })).toEqual({
      code: errorCodes.internal,
      message: 'Internal error',
    })
    expect(reported).toEqual([expect.objectContaining({ name: 'StateUsageError', code: 'too_large' })])
  })
})

test('a session is not found once it has expired [SES-012]', async () => {
  const { server, now } = createNotesServer({ ttlMs: 60_000 })
  const session = await createSession(server)
  now.advance(59_999)
  await resultOf(server, 'tools/list', {}, { session })
  now.advance(1)
  expect((await errorOf(server, 'tools/list', {}, { session })).code).toBe(sessionNotFoundCode)
})

test('a session lives for its ttlMs at a server whose keys no other instance has [SES-012]', async () => {
  const now = createManualClock()
  const hourMs = 3_600_000
  const greet = tool('greet', { description: 'Greets', run: () => 'Hello' })
  const sessions = createSessions({ ttlMs: 48 * hourMs })
  const server = createTestServer({ runtime: now, tools: [greet], extensions: [sessions] })
  const session = await createSession(server)
  now.advance(47 * hourMs)
  await resultOf(server, 'tools/list', {}, { session })
  now.advance(hourMs)
  expect((await errorOf(server, 'tools/list', {}, { session })).code).toBe(sessionNotFoundCode)
})

test('a state of an earlier version of the program that fits no more begins anew, and is reported', async () => {
  const runtime = createManualClock()
  const codec = createCodec(runtime)
  const later = createNotesSessions({ codec, runtime })
  const strict = { schema: z.object({ notes: z.array(z.string()).max(0) }), initial: { notes: [] } }
  const reported: unknown[] = []
  const onError = (error: unknown) => void reported.push(error)
  const newer = onHost(createSessions({ state: strict }), { codec, runtime, onError })
  const old = createTestServer({ tools: [createNoteTool(later.sessions)], extensions: [later.sessions] })
  const show = tool('show', { description: 's', run: (_args, ctx) => JSON.stringify(newer.of(ctx).state) })
  const server = createTestServer({ tools: [show], extensions: [newer] })
  const { session } = await callIn(old, await createSession(old), 'note', { text: 'a' })
  expect((await callIn(server, session, 'show')).text).toBe('{"notes":[]}')
  expect(reported).toEqual([expect.objectContaining({ message: expect.stringContaining('Not a session state') })])
})
