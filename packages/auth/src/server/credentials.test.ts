import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createProtectedServer } from '../testing/protected.ts'
import {
  type AccessToken,
  toCanonicalCredentials,
  type HttpRequestHead,
  isCanonicalBearer,
  parseAuthorization,
  readAuthorization,
} from './credentials.ts'

function requestOf(values: readonly string[], url = '/mcp'): HttpRequestHead {
  return { method: 'POST', url, source: undefined, headerValues: (name) => (name === 'authorization' ? values : []) }
}

function readCredentials(request: HttpRequestHead): AccessToken | string | undefined {
  const header = readAuthorization(request)
  const credentials = typeof header === 'string' ? parseAuthorization(header) : header
  return credentials !== undefined && 'problem' in credentials ? credentials.problem : credentials
}

const parts = fc.constantFrom(
  'Bearer',
  'bearer',
  'DPoP',
  ' ',
  '  ',
  ',',
  '=',
  '"',
  '\t',
  '\n',
  'a.b.c',
  '-',
  '~',
  'é',
  '',
)

test('a token is read whole or not at all from any header, and never with a foreign character', () => {
  const property = fc.property(fc.array(parts, { maxLength: 8 }), (pieces) => {
    const value = pieces.join('')
    const credentials = readCredentials(requestOf([value]))
    if (typeof credentials !== 'object') return
    expect(credentials.token).toMatch(/^[\w.~+/-]+=*$/)
    expect(value.toLowerCase().startsWith(credentials.scheme)).toBe(true)
    expect(value.endsWith(` ${credentials.token}`)).toBe(true)
  })
  fc.assert(property, { numRuns: 2000 })
})

test('every well-formed token is read as it is', () => {
  const property = fc.property(fc.stringMatching(/^[\w.~+/-]{1,200}={0,2}$/), (token) => {
    expect(readCredentials(requestOf([`Bearer ${token}`]))).toEqual({ scheme: 'bearer', token })
  })
  fc.assert(property)
})

test('two headers are malformed with any content [AUE-004]', () => {
  expect(readCredentials(requestOf(['Bearer a', 'Bearer a']))).toContain('more than one')
  expect(readCredentials(requestOf(['Bearer a', 'Basic b']))).toContain('more than one')
  expect(readCredentials(requestOf([]))).toBeUndefined()
})

test('a header in the usual form is the key of its token, and a token has one key in every form of the header', () => {
  const spelled = fc.tuple(fc.constantFrom('Bearer', 'bearer', 'BEARER', 'DPoP', 'dpop'), fc.nat({ max: 3 }))
  const property = fc.property(spelled, fc.stringMatching(/^[\w.~+/-]{1,40}={0,2}$/), ([scheme, spaces], token) => {
    const header = `${scheme} ${' '.repeat(spaces)}${token}`
    const credentials = readCredentials(requestOf([header]))
    if (typeof credentials !== 'object') throw new Error(`not read: ${header}`)
    const usual = scheme.toLowerCase() === 'bearer' ? `Bearer ${token}` : `DPoP ${token}`
    expect(toCanonicalCredentials(credentials)).toBe(usual)
    expect(isCanonicalBearer(header)).toBe(header === usual && scheme === 'Bearer')
  })
  fc.assert(property)
})

test('each rejected token is one line with its code, the method and the tool, and with no token', async () => {
  await using server = await createProtectedServer({ scopes: ['items:read', 'items:list'] })
  const [expired, narrow] = [await server.issuer.sign({ claims: { exp: 1 } }), await server.issuer.sign()]
  const call = { method: 'tools/call', params: { name: 'update' } }
  for (const token of [expired, narrow, narrow]) await server.send(token, call)
  const lines = ['expired', 'insufficient_scope', 'insufficient_scope']
  expect(server.records).toMatchObject(lines.map((code) => ({ code, method: 'tools/call', name: 'update' })))
  expect(server.records[2]?.message).toBe('TokenError: The token of "ada" lacks items:list')
  for (const token of [expired, narrow]) expect(JSON.stringify(server.records)).not.toContain(token)
})
