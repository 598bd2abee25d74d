import { expect, test } from 'vitest'
import { findRefusal } from './guard.ts'

const settings = { port: 6280, token: 'secret' }
const own = { host: '127.0.0.1:6280', authorization: 'Bearer secret' }

test.each([
  ['the page', own, undefined],
  ['the page by another name of this machine', { ...own, host: 'localhost:6280' }, undefined],
  ['a request of the page itself', { ...own, origin: 'http://127.0.0.1:6280' }, undefined],
  ['no token', { host: own.host }, 401],
  ['a token that is too short', { ...own, authorization: 'Bearer secre' }, 401],
  ['another token', { ...own, authorization: 'Bearer secreT' }, 401],
  ['a name that was made to point at this machine', { ...own, host: 'evil.example:6280' }, 403],
  ['another port', { ...own, host: '127.0.0.1:6281' }, 403],
  ['no host', { authorization: own.authorization }, 403],
  ['a page of another origin', { ...own, origin: 'https://evil.example' }, 403],
  ['a page of another port', { ...own, origin: 'http://127.0.0.1:3000' }, 403],
  ['a page without an origin of its own', { ...own, origin: 'null' }, 403],
])('%s', (_, headers, status) => {
  expect(findRefusal(headers, settings, true)?.status).toBe(status)
})

test('hosts need no token, and pass the same checks', () => {
  expect(findRefusal({ host: own.host }, settings, false)).toBeUndefined()
  expect(findRefusal({ host: 'evil.example' }, settings, false)?.status).toBe(403)
})
