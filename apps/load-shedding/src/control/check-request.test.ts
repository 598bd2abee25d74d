import { expect, test } from 'vitest'
import { rejectionStatusOf } from './check-request.ts'

const own = { host: '127.0.0.1:4530' }
const json = { ...own, 'content-type': 'application/json' }

test.each([
  ['the page', own, undefined],
  ['the host name localhost', { host: 'LOCALHOST:4530' }, undefined],
  ['the origin of the page', { ...own, origin: 'http://127.0.0.1:4530' }, undefined],
  ['no host', {}, 403],
  ['a host name that resolves to the loopback address', { host: 'evil.example:4530' }, 403],
  ['the port of another server', { host: '127.0.0.1:4531' }, 403],
  ['a host name with the address as its prefix', { host: '127.0.0.1.evil.example:4530' }, 403],
  ['the origin of another site', { ...own, origin: 'https://evil.example' }, 403],
  ['the origin of another port', { ...own, origin: 'http://127.0.0.1:8080' }, 403],
  ['the opaque origin of a sandbox', { ...own, origin: 'null' }, 403],
  ['an image request of another site', { ...own, 'sec-fetch-site': 'cross-site' }, 403],
])('a read request with %s is checked', (_, headers, status) => {
  expect(rejectionStatusOf(headers, 4530, false)).toBe(status)
})

test.each([
  ['JSON', json, undefined],
  ['JSON with a charset', { ...own, 'content-type': 'Application/JSON; charset=utf-8' }, undefined],
  ['a form', { ...own, 'content-type': 'application/x-www-form-urlencoded' }, 415],
  ['text, which sites may send without a preflight', { ...own, 'content-type': 'text/plain' }, 415],
  ['no media type', own, 415],
  ['JSON of another site', { ...json, origin: 'https://evil.example' }, 403],
])('a command with %s is checked', (_, headers, status) => {
  expect(rejectionStatusOf(headers, 4530, true)).toBe(status)
})
