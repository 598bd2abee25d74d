import { errorCodes } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { sessionNotFound } from '../session-metadata.ts'
import { callIn, createdSession, errorOf, resultOf, serving } from '../testing/asking.ts'

describe('sessions/delete', () => {
  test('ends a session with an empty result, and tells the author, with the state [SES-011 SES-012]', async () => {
    const deleted: unknown[] = []
    const { server } = serving({ onDelete: ({ id, state, principal }) => void deleted.push([id, state, principal]) })
    const { session } = await callIn(server, await createdSession(server), 'note', { text: 'a' })
    const { _meta, ...result } = await resultOf(server, 'sessions/delete', {}, { session })
    expect(result).toEqual({ resultType: 'complete' })
    expect(deleted).toEqual([[session.sessionId, { notes: ['a'] }, undefined]])
    const error = await errorOf(server, 'tools/list', {}, { session })
    expect(error).toEqual({
      code: sessionNotFound,
      message: 'Session not found',
      data: { sessionId: session.sessionId },
    })
    expect((await errorOf(server, 'sessions/delete', {}, { session })).code).toBe(sessionNotFound)
    expect(deleted).toHaveLength(1)
  })

  test('needs the id alone', async () => {
    const { server } = serving()
    const { sessionId } = await createdSession(server)
    await resultOf(server, 'sessions/delete', {}, { session: { sessionId } })
    expect((await errorOf(server, 'tools/list', {}, { session: { sessionId } })).code).toBe(sessionNotFound)
  })

  test('is done for the client even when what belongs to the session cannot be freed', async () => {
    const failure = new Error('no')
    const { server, reported } = serving({
      onDelete: () => {
        throw failure
      },
    })
    const session = await createdSession(server)
    await resultOf(server, 'sessions/delete', {}, { session })
    expect(reported).toEqual([failure])
  })

  test('must name a session', async () => {
    const { server } = serving()
    expect((await errorOf(server, 'sessions/delete')).code).toBe(errorCodes.invalidParams)
  })
})
