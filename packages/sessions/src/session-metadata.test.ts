import { isJsonObject } from '@x/schema'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type {
  CreateSessionRequest,
  CreateSessionResultResponse,
  DeleteSessionRequest,
  DeleteSessionResultResponse,
  SessionNotFoundError,
} from './server.ts'
import {
  maxSessionIdLength,
  maxStateLength,
  parseSessionMetadata,
  readSessionMetadata,
  sessionKey,
  sessionNotFoundCode,
} from './session-metadata.ts'

const visible = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  minLength: 1,
})

describe('Session metadata', () => {
  test('is read with exactly its members, without unknown ones', () => {
    const date = fc.date({ noInvalidDate: true, min: new Date(0), max: new Date('9999-12-31') })
    const state = fc.string({ unit: 'binary' })
    fc.assert(
      fc.property(visible, fc.option(date), fc.option(state), fc.object(), (sessionId, date, state, more) => {
        const known = {
          sessionId,
          ...(date !== null && { expiresAt: date.toISOString() }),
          ...(state !== null && { state }),
        }
        expect(
          parseSessionMetadata({
            ...JSON.parse(JSON.stringify(more)),
            expiresAt: undefined,
            state: undefined,
            ...known,
          }),
        ).toEqual(known)
      }),
    )
  })

  test('is an issue or metadata for any value, and never throws', () => {
    const member = fc.option(fc.anything(), { nil: undefined })
    const nearly = fc.record({ sessionId: member, expiresAt: member, state: member })
    fc.assert(
      fc.property(fc.oneof(fc.anything(), nearly), (value) => {
        const parsed = parseSessionMetadata(value)
        if ('issue' in parsed) {
          expect(parsed.issue).toMatch(/^must (be|have)/)
          return
        }
        expect(parsed.sessionId).toMatch(/^[\x21-\x7e]+$/)
        expect(['string', 'undefined']).toContain(typeof parsed.state)
      }),
    )
  })

  test.each<[string, unknown]>([
    ['a space in the id [SES-015]', { sessionId: 'a b' }],
    ['a line end behind the id [SES-015]', { sessionId: 'a\n' }],
    ['a character outside ASCII in the id [SES-015]', { sessionId: 'ä' }],
    ['an empty id', { sessionId: '' }],
    ['an id that is too long', { sessionId: 'x'.repeat(maxSessionIdLength + 1) }],
    ['an id that is a number', { sessionId: 5 }],
    ['no id', { state: 'x' }],
    ['an id in the prototype alone', JSON.parse('{"__proto__":{"sessionId":"a"}}')],
    ['an inherited id', Object.create({ sessionId: 'a' })],
    ['a state that is no string', { sessionId: 'a', state: {} }],
    ['a state that is null', { sessionId: 'a', state: null }],
    ['a state that is too long', { sessionId: 'a', state: 'x'.repeat(maxStateLength + 1) }],
    ['a date in words', { sessionId: 'a', expiresAt: 'tomorrow' }],
    ['a date that does not exist', { sessionId: 'a', expiresAt: '2026-13-01T00:00:00Z' }],
    ['a list', [{ sessionId: 'a' }]],
    ['a string', 'a'],
    ['null', null],
  ])('is refused with %s', (_title, value) => {
    expect(parseSessionMetadata(value)).toHaveProperty('issue')
  })

  test('is taken at its bounds', () => {
    const most = {
      sessionId: 'x'.repeat(maxSessionIdLength),
      state: 'é'.repeat(maxStateLength),
      expiresAt: '2026-03-01T00:00:00+01:00',
    }
    expect(parseSessionMetadata(most)).toEqual(most)
  })
})

test.each([
  ['params without _meta', {}],
  ['a _meta without it', { _meta: {} }],
  ['a _meta that inherits it', { _meta: JSON.parse(`{"__proto__":{"${sessionKey}":{"sessionId":"a"}}}`) }],
  ['a _meta that is no object', { _meta: 'x' }],
])('%s name no session', (_title, params) => {
  expect(isJsonObject(params) && readSessionMetadata(params)).toBeUndefined()
})

test('the test vectors of the seed fit the types, and are read unchanged', () => {
  const session = { sessionId: 'sess-abc123', expiresAt: '2026-03-01T00:00:00Z', state: 'eyJrIjoidiJ9' }
  const create = { jsonrpc: '2.0', id: 1, method: 'sessions/create' } as const satisfies CreateSessionRequest
  const created = {
    jsonrpc: '2.0',
    id: create.id,
    result: { resultType: 'complete', session },
  } as const satisfies CreateSessionResultResponse
  const destroy = {
    jsonrpc: '2.0',
    id: 2,
    method: 'sessions/delete',
    params: { _meta: { [sessionKey]: { sessionId: session.sessionId } } },
  } as const satisfies DeleteSessionRequest
  const deleted = {
    jsonrpc: '2.0',
    id: destroy.id,
    result: { resultType: 'complete' },
  } as const satisfies DeleteSessionResultResponse
  const missing = {
    jsonrpc: '2.0',
    id: 3,
    error: { code: -32043, message: 'Session not found', data: { sessionId: 'sess-invalid' } },
  } as const satisfies SessionNotFoundError
  expect(parseSessionMetadata(created.result.session)).toEqual(session)
  expect(readSessionMetadata(destroy.params)).toEqual({ sessionId: 'sess-abc123' })
  expect(readSessionMetadata(deleted.result)).toBeUndefined()
  expect(missing.error.code).toBe(sessionNotFoundCode)
})
