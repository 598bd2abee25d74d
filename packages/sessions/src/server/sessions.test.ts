import { memoryStore, randomKey, sealedState, type StateCodec, type StateStore } from '@x/state-codec'
import { tool } from '@x/server'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { sessionNotFoundCode } from '../session-metadata.ts'
import {
  callIn,
  createCodec,
  createSession,
  errorOf,
  createManualClock,
  createNoteTool,
  createNotesSessions,
  createTestServer,
  sessionsOf,
} from '../testing/asking.ts'
import { sessions as createSessions } from './sessions.ts'

const hour = 3_600_000

test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('a ttlMs of %d is refused', (ttlMs) => {
  expect(() => createSessions({ ttlMs })).toThrow(new RangeError(`ttlMs is ${ttlMs}: write a whole number from 1`))
})

test('sessions that should live longer than their tokens open are refused, with what to change', () => {
  const codec = sealedState({ keys: [randomKey()], maxAgeMs: hour })
  const long = sealedState({ keys: [randomKey()], maxAgeMs: 9 * hour })
  const serve = (ttlMs: number, state: StateCodec) =>
    createTestServer({ state, extensions: [createSessions({ ttlMs })] })
  expect(() => serve(2 * hour, codec)).toThrow(`give the codec a maxAgeMs of ${2 * hour}`)
  const state = { schema: z.object({}), initial: {}, codec }
  expect(() => createSessions({ state, ttlMs: 2 * hour })).toThrow('state.codec')
  expect(sessionsOf(serve(9 * hour, long))).toBeDefined()
})

test('revoke needs a store or a bus, because other instances would not be notified', async () => {
  const serve = (store?: StateStore) => createTestServer({ extensions: [createNotesSessions({ store }).sessions] })
  await expect(sessionsOf(serve()).revoke('x')).rejects.toThrow('needs a store or a bus')
  await sessionsOf(serve(memoryStore())).revoke('unknown')
})

test('each definition finds its own sessions alone', async () => {
  const { sessions } = createNotesSessions()
  const others = createSessions()
  const look = tool('look', {
    description: 'l',
    run: (_args, ctx) => `${others.find(ctx)} ${sessions.find(ctx)?.revision}`,
  })
  const server = createTestServer({ tools: [look], extensions: [sessions] })
  expect((await callIn(server, await createSession(server), 'look')).text).toBe('undefined 0')
  expect((await callIn(server, undefined, 'look')).text).toBe('undefined undefined')
})

test('keys are rotated without losing a session: the new one is known everywhere before it is used', async () => {
  const [old, fresh] = [randomKey(), randomKey()]
  const now = createManualClock()
  const instance = (...keys: string[]) => {
    const { sessions } = createNotesSessions({ codec: sealedState({ keys, runtime: now }), runtime: now })
    return createTestServer({ tools: [createNoteTool(sessions)], extensions: [sessions] })
  }
  const phases = [instance(old), instance(old, fresh), instance(fresh, old)]
  const [first] = phases
  if (first === undefined) throw new Error('there is a first phase')
  let session = await createSession(first)
  const texts: string[] = []
  for (const [at, server] of phases.entries()) {
    const called = await callIn(server, session, 'note', { text: `${at}` })
    session = called.session
    texts.push(called.text)
  }
  expect(texts).toEqual(['0', '0 1', '0 1 2'])
})

test('a log that throws changes no response', async () => {
  const { sessions } = createNotesSessions({
    onError: () => {
      throw new Error('the log is full')
    },
    onDelete: () => Promise.reject(new Error('no')),
  })
  const server = createTestServer({ tools: [createNoteTool(sessions)], extensions: [sessions] })
  const { session } = await callIn(server, await createSession(server), 'note', { text: 'a' })
  expect((await callIn(server, session, 'note', { text: 'b' })).text).toBe('a b')
})

test('a store that has lost its content ends sessions, and revives none [SES-012]', async () => {
  const now = createManualClock()
  const codec = createCodec(now)
  const instance = () =>
    createTestServer({ extensions: [createNotesSessions({ codec, runtime: now, store: memoryStore() }).sessions] })
  const session = await createSession(instance())
  expect((await errorOf(instance(), 'server/discover', {}, { session })).code).toBe(sessionNotFoundCode)
})
