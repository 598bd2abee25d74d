import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type HttpRequestHead, readCredentials } from './credentials.ts'

function requestOf(values: readonly string[], url = '/mcp'): HttpRequestHead {
  return { method: 'POST', url, source: undefined, headerValues: (name) => (name === 'authorization' ? values : []) }
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

test('whatever a header holds, a token is read whole or not at all, and never with a character that is none of its', () => {
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

test('two headers are malformed, whatever they hold [AUE-004]', () => {
  expect(readCredentials(requestOf(['Bearer a', 'Bearer a']))).toContain('more than one')
  expect(readCredentials(requestOf(['Bearer a', 'Basic b']))).toContain('more than one')
  expect(readCredentials(requestOf([]))).toBeUndefined()
})
