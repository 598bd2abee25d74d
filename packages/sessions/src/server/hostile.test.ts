import { errorCodes } from '@x/schema'
import { tool } from '@x/server'
import { memoryStore, type StateStore } from '@x/state-codec'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sessionNotFoundCode } from '../session-metadata.ts'
import {
  callIn,
  createCodec,
  createManualClock,
  createSession,
  errorOf,
  createNotesSessions,
  resultOf,
  createTestServer,
  createNotesServer,
} from '../testing/asking.ts'

const ada = { principal: { subject: 'ada' } }
const flip = (token: string, at: number): string => {
  const index = at % token.length
  return token.slice(0, index) + (token[index] === 'A' ? 'B' : 'A') + token.slice(index + 1)
}

describe('A session is not found', () => {
  test.each([
    ['for another subject', { principal: { subject: 'eve' } }],
    ['for the same subject of another issuer', { principal: { subject: 'ada', issuer: 'https://evil.example' } }],
    ['for the same subject through another client', { principal: { subject: 'ada', client: 'other' } }],
    ['without a principal', {}],
  ])('%s, who can neither use nor delete it [SES-012]', async (_title, other) => {
    const { server } = createNotesServer()
    const { session } = await callIn(server, await createSession(server, ada), 'note', { text: 'secret' }, ada)
    for (const [method, params] of [
      ['tools/call', { name: 'note', arguments: { text: 'x' } }],
      ['sessions/delete', {}],
    ] as const) {
      expect((await errorOf(server, method, params, { ...other, session })).code).toBe(sessionNotFoundCode)
    }
    expect((await callIn(server, session, 'note', { text: 'mine' }, ada)).text).toBe('secret mine')
  })

  test('by a user when it was created without a principal', async () => {
    const { server } = createNotesServer()
    const session = await createSession(server)
    expect((await errorOf(server, 'tools/list', {}, { ...ada, session })).code).toBe(sessionNotFoundCode)
  })

  test('with the state of another one, whosever it is', async () => {
    const { server } = createNotesServer()
    const [one, other] = [await createSession(server), await createSession(server)]
    const { session } = await callIn(server, one, 'note', { text: 'a' })
    const mixed = { sessionId: other.sessionId, state: session.state }
    expect((await errorOf(server, 'tools/list', {}, { session: mixed })).code).toBe(sessionNotFoundCode)
  })

  test('with an id for a state, or a state for an id', async () => {
    const { server } = createNotesServer()
    const { session } = await callIn(server, await createSession(server), 'note', { text: 'a' })
    for (const mixed of [
      { sessionId: session.sessionId, state: session.sessionId },
      { sessionId: session.state, state: session.state },
      { sessionId: session.state },
    ]) {
      expect((await errorOf(server, 'tools/list', {}, { session: mixed })).code).toBe(sessionNotFoundCode)
    }
  })

  test('under an id of another service, or of keys that were removed', async () => {
    const session = await createSession(createNotesServer().server)
    expect((await errorOf(createNotesServer().server, 'tools/list', {}, { session })).code).toBe(sessionNotFoundCode)
  })

  test('when one character of it or of its state was altered, and the answer never says which', async () => {
    const { server } = createNotesServer()
    const { session } = await callIn(server, await createSession(server), 'note', { text: 'a' })
    const { sessionId, state = '' } = session
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.boolean(), async (at, inState) => {
        const altered = inState ? { sessionId, state: flip(state, at) } : { sessionId: flip(sessionId, at), state }
        const error = await errorOf(server, 'tools/list', {}, { session: altered })
        expect(error).toEqual({
          code: sessionNotFoundCode,
          message: 'Session not found',
          data: { sessionId: altered.sessionId },
        })
      }),
    )
  })

  test('under any id that was not given out', async () => {
    const { server } = createNotesServer()
    const visible = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code))
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: visible, minLength: 1 }), async (sessionId) => {
        expect((await errorOf(server, 'tools/list', {}, { session: { sessionId } })).code).toBe(sessionNotFoundCode)
      }),
    )
  })
})

test.each<[string, unknown]>([
  ['a list', []],
  ['a string', 'sess-abc'],
  ['no id', { state: 'x' }],
  ['a huge id', { sessionId: 'x'.repeat(1_000_000) }],
  ['a huge state', { sessionId: 'x', state: 'x'.repeat(1_000_000) }],
  ['an id under __proto__', JSON.parse('{"__proto__":{"sessionId":"x"}}')],
  ['a line end in the id', { sessionId: 'x\r\nSet-Cookie: a=b' }],
])('metadata that is %s is refused, in a message that repeats nothing of it', async (_title, session) => {
  const { server } = createNotesServer()
  for (const method of ['tools/list', 'sessions/delete', 'server/discover', 'nothing/here']) {
    const { code, message } = await errorOf(server, method, {}, { session })
    expect([code, message.length < 300, message.includes('Set-Cookie')]).toEqual([
      errorCodes.invalidParams,
      true,
      false,
    ])
  }
})

test('sessions of a thousand callers at once are not mixed up', async () => {
  const { server } = createNotesServer()
  const visit = async (index: number): Promise<string> => {
    const asking = { principal: { subject: `user ${index % 50}` } }
    let session = await createSession(server, asking)
    let last = ''
    for (const part of ['a', 'b'])
      ({ session, text: last } = await callIn(server, session, 'note', { text: `${index}${part}` }, asking))
    return last
  }
  const texts = await Promise.all(Array.from({ length: 1000 }, (_, index) => visit(index)))
  expect(texts).toEqual(texts.map((_, index) => `${index}a ${index}b`))
})

test('a session handle that a handler kept does nothing once its call has ended', async () => {
  const { sessions } = createNotesSessions()
  const kept: ReturnType<typeof sessions.of>[] = []
  const keeping = tool('keeping', { description: 'k', run: (_args, ctx) => `${kept.push(sessions.of(ctx))}` })
  const server = createTestServer({ tools: [keeping], extensions: [sessions] })
  await callIn(server, await createSession(server), 'keeping')
  expect(() => kept[0]?.setState({ notes: ['late'] })).toThrow('after the call had ended')
})

test('a store that cannot be reached says nothing of the session: the client may try again', async () => {
  const store: StateStore = memoryStore()
  let isDown = false
  const failing: StateStore = {
    ...store,
    get: (key) =>
      isDown
        ? Promise.reject(Object.assign(new Error('x'), { name: 'StateError', code: 'unavailable', detail: 'down' }))
        : store.get(key),
  }
  const { server, reported } = createNotesServer({ store: failing })
  const session = await createSession(server)
  isDown = true
  expect(await errorOf(server, 'tools/list', {}, { session })).toMatchObject({
    code: errorCodes.internal,
    data: { reason: 'unavailable', retryAfterMs: 1000, begun: false },
  })
  expect(reported).toEqual([expect.objectContaining({ code: 'unavailable' })])
  expect([await server.ready(), server.load.unavailable]).toEqual([true, ['sessions']])
  isDown = false
  await resultOf(server, 'tools/list', {}, { session })
  expect([await server.ready(), server.load.unavailable]).toEqual([true, []])
})

test.each(['sessions/create', 'sessions/delete'])(
  '%s is unavailable while the store fails [UNA-001 UNA-002]',
  async (method) => {
    let isDown = false
    const inner: StateStore = memoryStore()
    const fail = (): Promise<never> => Promise.reject(new Error('connect ECONNREFUSED'))
    // A store of the author's own, whose errors are of any class.
    const store: StateStore = {
      add: (...entry) => (isDown ? fail() : inner.add(...entry)),
      get: (key) => (isDown ? fail() : inner.get(key)),
      delete: (key) => (isDown ? fail() : inner.delete(key)),
    }
    const { server } = createNotesServer({ store })
    const session = await createSession(server)
    const options = method === 'sessions/delete' ? { session } : {}
    isDown = true
    expect(await errorOf(server, method, {}, options)).toMatchObject({ data: { reason: 'unavailable', begun: false } })
    isDown = false
    await resultOf(server, method, {}, options)
  },
)

test('an instance whose clock is behind does not end a session, and the log says by how much clocks differ [UNA-007]', async () => {
  const clock = createManualClock()
  const codec = createCodec(clock)
  const { server, reported } = createNotesServer({ codec, runtime: clock })
  const session = await createSession(server)
  clock.advance(-7_200_000)
  expect(await errorOf(server, 'tools/list', {}, { session })).toMatchObject({
    code: errorCodes.internal,
    data: { reason: 'unavailable', begun: false },
  })
  expect(reported).toEqual([
    expect.objectContaining({ code: 'not_yet', detail: expect.stringContaining('Clocks differ by at least 7200 s') }),
  ])
  clock.advance(7_200_000)
  await resultOf(server, 'tools/list', {}, { session })
})

test('the reason why a session was rejected is reported, and the client does not receive it', async () => {
  const { server, reported } = createNotesServer()
  await errorOf(server, 'tools/list', {}, { session: { sessionId: 'made-up' } })
  expect(reported).toEqual([expect.objectContaining({ name: 'StateError', code: 'malformed' })])
})
