import { errorCodes, metaKeys } from '@x/schema'
import { memoryStore } from '@x/state-codec'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { sessionNotFoundCode } from '../session-metadata.ts'
import {
  sendRequest,
  callIn,
  createSession,
  errorOf,
  midnight,
  resultOf,
  createNotesServer,
  createTestServer,
  onHost,
} from '../testing/asking.ts'
import { sessions as createSessions } from './sessions.ts'

describe('sessions/create', () => {
  test('answers with an id, with when it ends, and with the initial state [SES-002]', async () => {
    const { server } = createNotesServer({ ttlMs: 3_600_000 })
    const result = await resultOf(server, 'sessions/create')
    expect(result).toEqual({
      resultType: 'complete',
      session: {
        sessionId: expect.any(String),
        expiresAt: new Date(midnight + 3_600_000).toISOString(),
        state: expect.any(String),
      },
      _meta: { [metaKeys.serverInfo]: { name: 'demo', version: '1.0.0' } },
    })
  })

  test('makes ids of visible ASCII that are all different, even in the same millisecond [SES-014 SES-015]', async () => {
    const { server } = createNotesServer()
    const ids = await Promise.all(Array.from({ length: 500 }, async () => (await createSession(server)).sessionId))
    expect(new Set(ids).size).toBe(500)
    for (const id of ids) expect(id).toMatch(/^[\x21-\x7e]{100,600}$/)
  })

  test('answers with the state that onCreate returns, and onCreate receives the owner of the session [SES-002]', async () => {
    const seen: unknown[] = []
    const { server, now } = createNotesServer({
      onCreate: ({ id, principal, expiresAt }) => {
        seen.push([typeof id, principal, expiresAt - now.now()])
        return { notes: ['welcome'] }
      },
    })
    const session = await createSession(server, { principal: { subject: 'ada' } })
    expect(session.state).toEqual(expect.any(String))
    expect(seen).toEqual([['string', { subject: 'ada' }, 86_400_000]])
    expect((await callIn(server, session, 'note', { text: 'b' }, { principal: { subject: 'ada' } })).text).toBe(
      'welcome b',
    )
  })

  test('is refused when it names a session [SES-003]', async () => {
    const { server } = createNotesServer()
    const session = await createSession(server)
    expect(await errorOf(server, 'sessions/create', {}, { session })).toMatchObject({ code: errorCodes.invalidParams })
  })

  test.each([
    [
      'a revision that is not served',
      { [metaKeys.protocolVersion]: '2020-01-01' },
      errorCodes.unsupportedProtocolVersion,
    ],
    ['capabilities that are none', { [metaKeys.clientCapabilities]: 5 }, errorCodes.invalidParams],
  ])('is rejected as every other request is, with %s', async (_title, meta, code) => {
    const { server } = createNotesServer()
    expect((await errorOf(server, 'sessions/create', {}, { meta })).code).toBe(code)
    const session = await createSession(server)
    expect((await errorOf(server, 'sessions/delete', {}, { session, meta })).code).toBe(code)
  })

  test('ends a session whose creation was cancelled', async () => {
    const controller = new AbortController()
    const deleted: string[] = []
    const store = memoryStore()
    let created = ''
    const { server } = createNotesServer({
      store,
      onCreate: ({ id }) => {
        created = id
        controller.abort('enough')
      },
      onDelete: ({ id }) => void deleted.push(id),
    })
    await expect(sendRequest(server, 'sessions/create', {}, { signal: controller.signal })).rejects.toBe('enough')
    expect(deleted).toEqual([created])
    expect((await errorOf(server, 'sessions/delete', {}, { session: { sessionId: created } })).code).toBe(
      sessionNotFoundCode,
    )
  })

  test.each([
    ['the store cannot end it', { credit: 0 }, { credit: 0 }],
    ['the schema rejects what onCreate returned', { credit: -1 }, undefined],
  ])('calls onDelete for a session whose creation failed, also when %s', async (_, firstState, state) => {
    const deleted: unknown[] = []
    const reported: unknown[] = []
    const controller = new AbortController()
    const defined = createSessions({
      store: { ...memoryStore(), delete: () => Promise.reject(new Error('away')) },
      state: { schema: z.object({ credit: z.number().min(0) }), initial: { credit: 0 } },
      onCreate: () => {
        controller.abort('enough')
        return firstState
      },
      onDelete: (session) => void deleted.push(session.state),
    })
    const sessions = onHost(defined, { onError: (error) => void reported.push(error) })
    const server = createTestServer({ extensions: [sessions] })
    await sendRequest(server, 'sessions/create', {}, { signal: controller.signal }).catch(() => {})
    expect(deleted).toEqual([state])
    expect(reported[0]).toMatchObject({ code: 'unavailable' })
  })

  test('fails without a word of why when onCreate does, and takes the session back', async () => {
    const secret = new Error('the password is 123')
    let created = ''
    const { server, reported } = createNotesServer({
      store: memoryStore(),
      onCreate: ({ id }) => {
        created = id
        throw secret
      },
    })
    expect(await errorOf(server, 'sessions/create')).toEqual({ code: errorCodes.internal, message: 'Internal error' })
    expect(reported).toEqual([secret])
    expect((await errorOf(server, 'sessions/delete', {}, { session: { sessionId: created } })).code).toBe(
      sessionNotFoundCode,
    )
  })
})
