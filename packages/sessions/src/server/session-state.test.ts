import { projectMetaKeys } from '@x/schema'
import { type Context, tool } from '@x/server'
import { memoryStore, storedState } from '@x/state-codec'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import {
  callIn,
  createCodec,
  createSession,
  errorOf,
  onHost,
  createManualClock,
  createNoteTool,
  createNotesSessions,
  resultOf,
  sessionOfResult,
  textOf,
  createTestServer,
} from '../testing/asking.ts'
import { sessions as createSessions } from './sessions.ts'

describe('A session whose first state is not the initial one', () => {
  const setUp = (store?: ReturnType<typeof memoryStore>) => {
    const now = createManualClock()
    const reported: unknown[] = []
    const ended: unknown[] = []
    const defined = createSessions({
      store,
      state: { schema: z.object({ credit: z.number() }), initial: { credit: 100 } },
      onCreate: () => ({ credit: 1 }),
      onDelete: ({ state }) => void ended.push(state),
    })
    const onError = (error: unknown) => void reported.push(error)
    const sessions = onHost(defined, { codec: createCodec(now), runtime: now, onError })
    const visibleTo = sessions.when(({ state }) => state.credit > 50)
    const rich = tool('rich', { description: 'r', visibleTo, run: () => 'ran' })
    const spend = tool('spend', {
      description: 's',
      input: z.object({ careful: z.boolean().optional() }),
      async run({ careful }, ctx: Context) {
        const session = sessions.of(ctx)
        if (careful === true && !(await session.claim())) return 'refused'
        session.setState({ credit: session.state.credit - 1 })
        return String(session.state.credit)
      },
    })
    const server = createTestServer({ tools: [rich, spend], strictReplay: false, extensions: [sessions] })
    return { server, reported, ended }
  }

  test.each([
    ['tools/call', { name: 'rich' }],
    ['tools/call', { name: 'spend', arguments: {} }],
    ['tools/list', {}],
  ])('is not turned back to the initial one by a %s without state [SES-012]', async (method, params) => {
    const { server, reported } = setUp()
    const { sessionId } = await createSession(server)
    expect(await errorOf(server, method, params, { session: { sessionId } })).toEqual({
      code: -32043,
      message: 'Session not found',
      data: { sessionId },
    })
    expect(reported).toEqual([expect.objectContaining({ message: 'The request has no state of its session' })])
  })

  test('is deleted by its id alone, and onDelete then receives no state [SES-011]', async () => {
    const { server, ended } = setUp()
    const [one, other] = [await createSession(server), await createSession(server)]
    await resultOf(server, 'sessions/delete', {}, { session: { sessionId: one.sessionId } })
    await resultOf(server, 'sessions/delete', {}, { session: other })
    expect(ended).toEqual([undefined, { credit: 1 }])
  })

  test('takes no state of another session of the same caller', async () => {
    const { server } = setUp()
    const [one, other] = [await createSession(server), await createSession(server)]
    const mixed = { sessionId: one.sessionId, state: other.state }
    expect((await errorOf(server, 'tools/list', {}, { session: mixed })).code).toBe(-32043)
  })

  test('takes an older state again, and refuses it where the handler claims the revision', async () => {
    const { server } = setUp(memoryStore())
    const first = await createSession(server)
    const careful = { careful: true }
    expect((await callIn(server, first, 'spend', careful)).text).toBe('0')
    expect((await callIn(server, first, 'spend', careful)).text).toBe('refused')
    expect((await callIn(server, first, 'spend')).text).toBe('0')
  })
})

test('a session whose handlers keep nothing has no state, and needs none', async () => {
  const sessions = createSessions()
  const server = createTestServer({ tools: [], extensions: [sessions] })
  const session = await createSession(server)
  expect(session.state).toBeUndefined()
  await resultOf(server, 'tools/list', {}, { session })
})

test('a state has the type of an interface, and a type that JSON cannot write is refused', () => {
  interface Cart {
    readonly items: readonly { readonly id: string; readonly count?: number | undefined }[]
    readonly note?: string | undefined
  }
  const item = z.object({ id: z.string(), count: z.number().optional() })
  const schema: z.ZodType<Cart> = z.object({ items: z.array(item) })
  const carts = createSessions({
    state: { schema, initial: { items: [] } },
    onCreate: ({ id }) => ({ items: [{ id }] }),
    onDelete: ({ state }) => void expectTypeOf(state).toEqualTypeOf<Cart | undefined>(),
  })
  expectTypeOf(carts.of).returns.toHaveProperty('state').toEqualTypeOf<Cart>()
  const dated = { schema: z.object({ at: z.date() }), initial: { at: new Date(0) } }
  // @ts-expect-error: a Date
  expect(createSessions({ state: dated })).toBeDefined()
})

describe('An initial state', () => {
  test('that the schema refuses makes no sessions', () => {
    const state = { schema: z.object({ count: z.number().max(1) }), initial: { count: 2 } }
    expect(() => createSessions({ state })).toThrow('Not a session state: count:')
  })
})

describe('States in a store', () => {
  const tenMinutes = 600_000
  const setUp = () => {
    const now = createManualClock()
    const store = memoryStore({ runtime: now, maxEntries: 10, maxEntriesPerOwner: 10 })
    const codec = createCodec(now)
    const { sessions } = createNotesSessions({ codec, runtime: now, stateCodec: storedState({ store, runtime: now }) })
    const server = createTestServer({ tools: [createNoteTool(sessions)], extensions: [sessions] })
    return { server, now }
  }

  test('do not fill it: of a session of any length, two are there', async () => {
    const { server } = setUp()
    let session = await createSession(server)
    for (let call = 0; call < 100; call++) ({ session } = await callIn(server, session, 'note', { text: 'x' }))
    expect((await callIn(server, session, 'note', { text: 'y' })).text).toMatch(/^(?:x ){100}y$/)
  })

  test('are there until their successor comes, since the answer with it may be lost', async () => {
    const { server } = setUp()
    const first = await createSession(server)
    await callIn(server, first, 'note', { text: 'lost' })
    const { session: second } = await callIn(server, first, 'note', { text: 'a' })
    await callIn(server, second, 'note', { text: 'b' })
    expect((await errorOf(server, 'tools/list', {}, { session: first })).code).toBe(-32043)
  })

  test('are there for 10 minutes when their successor never comes', async () => {
    const { server, now } = setUp()
    const first = await createSession(server)
    const { session: second } = await callIn(server, first, 'note', { text: 'a' })
    now.advance(tenMinutes - 1)
    await resultOf(server, 'tools/list', {}, { session: first })
    now.advance(1)
    expect((await errorOf(server, 'tools/list', {}, { session: first })).code).toBe(-32043)
    await resultOf(server, 'tools/list', {}, { session: second })
  })
})

test('a keyed call that is sent again answers with the state that its lost answer had', async () => {
  const now = createManualClock()
  const { sessions } = createNotesSessions({ codec: createCodec(now), runtime: now })
  let runCount = 0
  const add = tool('add', {
    description: 'Adds a note',
    keyedEffects: true,
    run: (_, ctx: Context) => {
      runCount += 1
      const session = sessions.of(ctx)
      session.setState({ notes: [...session.state.notes, 'x'] })
      return session.state.notes.join(' ')
    },
  })
  const idempotency = { store: memoryStore() }
  const server = createTestServer({ tools: [add], extensions: [sessions], strictReplay: false, idempotency })
  const principal = { subject: 'ada' }
  const created = await resultOf(server, 'sessions/create', {}, { principal })
  const call = async (session: unknown, key: string) => {
    const meta = { [projectMetaKeys.idempotencyKey]: key }
    return sessionOfResult(await resultOf(server, 'tools/call', { name: 'add' }, { session, principal, meta }))
  }
  await call(created['session'], 'A'.repeat(22))
  const sentAgain = await call(created['session'], 'A'.repeat(22))
  const next = await resultOf(server, 'tools/call', { name: 'add' }, { session: sentAgain, principal })
  expect([textOf(next), runCount]).toEqual(['x x', 3])
})
