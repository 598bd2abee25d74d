import { errorCodes } from '@x/schema'
import { memoryBus } from '@x/server'
import { memoryStore, randomKey, sealedState } from '@x/state-codec'
import { describe, expect, test } from 'vitest'
import { sessionNotFoundCode } from '../session-metadata.ts'
import { callIn, createSession, errorOf, resultOf, sessionsOf, createNotesServer } from '../testing/asking.ts'

describe('sessions/delete', () => {
  test('ends a session with an empty result, and calls onDelete with the state [SES-011 SES-012]', async () => {
    const deleted: unknown[] = []
    const { server } = createNotesServer({
      onDelete: ({ id, state, principal }) => void deleted.push([id, state, principal]),
    })
    const { session } = await callIn(server, await createSession(server), 'note', { text: 'a' })
    const { _meta, ...result } = await resultOf(server, 'sessions/delete', {}, { session })
    expect(result).toEqual({ resultType: 'complete' })
    expect(deleted).toEqual([[session.sessionId, { notes: ['a'] }, undefined]])
    const error = await errorOf(server, 'tools/list', {}, { session })
    expect(error).toEqual({
      code: sessionNotFoundCode,
      message: 'Session not found',
      data: { sessionId: session.sessionId },
    })
    expect((await errorOf(server, 'sessions/delete', {}, { session })).code).toBe(sessionNotFoundCode)
    expect(deleted).toHaveLength(1)
  })

  test('needs the id alone', async () => {
    const { server } = createNotesServer()
    const { sessionId } = await createSession(server)
    await resultOf(server, 'sessions/delete', {}, { session: { sessionId } })
    expect((await errorOf(server, 'tools/list', {}, { session: { sessionId } })).code).toBe(sessionNotFoundCode)
  })

  test('is done for the client even when what belongs to the session cannot be freed', async () => {
    const failure = new Error('no')
    const { server, reported } = createNotesServer({
      onDelete: () => {
        throw failure
      },
    })
    const session = await createSession(server)
    await resultOf(server, 'sessions/delete', {}, { session })
    expect(reported).toEqual([failure])
  })

  test.each([
    ['the store deletes it and its answer is lost', 'store'],
    ['the bus does not notify the others', 'bus'],
  ] as const)('calls onDelete when the session ends and %s, because a repeat finds no session', async (_, part) => {
    const deleted: string[] = []
    const [store, bus, failure] = [memoryStore(), memoryBus(), new Error('connection reset')]
    const lose = async (work: Promise<unknown>): Promise<never> => {
      await work
      throw failure
    }
    const parts = {
      store: { store: { ...store, delete: (key: string) => lose(store.delete(key)) } },
      bus: { bus: { ...bus, publish: () => lose(Promise.resolve()) } },
    }
    const { server, reported } = createNotesServer({ ...parts[part], onDelete: ({ id }) => void deleted.push(id) })
    const session = await createSession(server)
    expect((await errorOf(server, 'sessions/delete', {}, { session })).code).toBe(errorCodes.internal)
    expect((await errorOf(server, 'sessions/delete', {}, { session })).code).toBe(sessionNotFoundCode)
    expect([deleted, reported.length]).toEqual([[session.sessionId], 2])
  })

  test('does not call onDelete while the session goes on, because the store could not delete it', async () => {
    const deleted: string[] = []
    const store = memoryStore()
    let isReachable = false
    const { server } = createNotesServer({
      store: { ...store, delete: (key) => (isReachable ? store.delete(key) : Promise.reject(new Error('away'))) },
      onDelete: ({ id }) => void deleted.push(id),
    })
    const session = await createSession(server)
    expect((await errorOf(server, 'sessions/delete', {}, { session })).code).toBe(errorCodes.internal)
    expect(deleted).toEqual([])
    isReachable = true
    await resultOf(server, 'sessions/delete', {}, { session })
    expect(deleted).toEqual([session.sessionId])
  })

  test('must name a session', async () => {
    const { server } = createNotesServer()
    expect((await errorOf(server, 'sessions/delete')).code).toBe(errorCodes.invalidParams)
  })
})

describe('sessions over a bus', () => {
  test('are unknown at every instance once one has deleted or revoked them, and no id travels [SES-011 SES-012]', async () => {
    const shared = memoryBus()
    const told: unknown[] = []
    const bus: typeof shared = { ...shared, publish: (change) => (told.push(change), shared.publish(change)) }
    const codec = sealedState({ keys: [randomKey()] })
    const [here, there] = [
      createNotesServer({ codec, bus, runtime: Date }),
      createNotesServer({ codec, bus, runtime: Date }),
    ]
    const [deleted, revoked, kept] = [1, 2, 3].map(() => createSession(here.server))
    const named = await Promise.all([deleted, revoked, kept])
    for (const session of named) await resultOf(there.server, 'tools/list', {}, { session })
    const [first, second, third] = named
    await resultOf(here.server, 'sessions/delete', {}, { session: first })
    await sessionsOf(here.server).revoke(second?.sessionId ?? '')
    for (const { server } of [here, there]) {
      expect((await errorOf(server, 'tools/list', {}, { session: first })).code).toBe(sessionNotFoundCode)
      expect((await errorOf(server, 'tools/list', {}, { session: second })).code).toBe(sessionNotFoundCode)
      await resultOf(server, 'tools/list', {}, { session: third })
    }
    expect(told).toHaveLength(2)
    expect(JSON.stringify(told)).not.toContain(first?.sessionId)
  })

  test('are not served before the instance listens to the bus', async () => {
    const shared = memoryBus()
    let isAway = true
    const listen: typeof shared.listen = (listener) =>
      isAway ? Promise.reject(new Error('away')) : shared.listen(listener)
    const { server, reported } = createNotesServer({ bus: { ...shared, listen } })
    expect((await errorOf(server, 'sessions/create')).code).toBe(errorCodes.internal)
    expect(reported).toMatchObject([{ code: 'unavailable' }])
    isAway = false
    await createSession(server)
    await server.close()
  })
})
