import { expect, test } from 'vitest'
import { rejectionStatusOf } from './check-request.ts'

const own = { host: '127.0.0.1:4530' }
const json = { ...own, 'content-type': 'application/json' }

test.each([
  ['a request of the page', own, undefined],
  ['one by the other name', { host: 'LOCALHOST:4530' }, undefined],
  ['one with the page as its origin', { ...own, origin: 'http://127.0.0.1:4530' }, undefined],
  ['one without a host', {}, 403],
  ['a name that was made to point here', { host: 'evil.example:4530' }, 403],
  ['another port', { host: '127.0.0.1:4531' }, 403],
  ['a name that begins alike', { host: '127.0.0.1.evil.example:4530' }, 403],
  ['another site', { ...own, origin: 'https://evil.example' }, 403],
  ['a page of another port of this machine', { ...own, origin: 'http://127.0.0.1:8080' }, 403],
  ['a page in a sandbox', { ...own, origin: 'null' }, 403],
  ['a picture of another site', { ...own, 'sec-fetch-site': 'cross-site' }, 403],
])('of what asks to see, %s is judged', (_, headers, status) => {
  expect(rejectionStatusOf(headers, 4530, false)).toBe(status)
})

test.each([
  ['JSON', json, undefined],
  ['JSON with a charset', { ...own, 'content-type': 'Application/JSON; charset=utf-8' }, undefined],
  ['a form', { ...own, 'content-type': 'application/x-www-form-urlencoded' }, 415],
  ['text, as sites may send without being asked', { ...own, 'content-type': 'text/plain' }, 415],
  ['no type', own, 415],
  ['JSON of another site', { ...json, origin: 'https://evil.example' }, 403],
])('of what gives a command, %s is judged', (_, headers, status) => {
  expect(rejectionStatusOf(headers, 4530, true)).toBe(status)
})
