import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findContainingUri, createSubscribedUris } from './changes.ts'

test.each([
  ['file:///a/b', ['file:///a'], 'file:///a'],
  ['file:///a/b', ['file:///a/'], 'file:///a/'],
  ['file:///a/b/c', ['file:///a', 'file:///a/b'], 'file:///a/b'],
  ['file:///a?x', ['file:///a'], 'file:///a'],
  ['file:///a#x', ['file:///a'], 'file:///a'],
  ['file:///a', ['file:///a'], undefined],
  ['file:///a/', ['file:///a'], 'file:///a'],
  ['file:///ab', ['file:///a'], undefined],
  ['file:///a', ['file:///a/'], undefined],
  ['file:///a', [], undefined],
  ['', ['', '/'], undefined],
  ['x'.repeat(10), ['x'.repeat(9)], undefined],
])('what holds %s among %j is %s', (uri, uris, holder) => {
  expect(findContainingUri(uri, createSubscribedUris(uris))).toBe(holder)
})

test('a holder is one of those that are listened to, shorter, and ends where a part begins', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '/', '?', '#', ':'), maxLength: 12 })
  fc.assert(
    fc.property(text, fc.array(text, { maxLength: 8 }), (uri, uris) => {
      const expected = uris
        .filter((one) => one.length > 0 && one.length < uri.length && uri.startsWith(one))
        .filter((one) => /^[/?#]/.test(uri.slice(one.length)) || /[/?#]$/.test(one))
        .sort((a, b) => b.length - a.length)[0]
      expect(findContainingUri(uri, createSubscribedUris(uris))).toBe(expected)
    }),
  )
})

test('a text of millions of slashes costs no more than the resources that are listened to', () => {
  const reads: number[] = []
  const uri = '/'.repeat(4_000_000)
  const { uris, lengths } = createSubscribedUris(['a:b', 'a:c', 'a:bcd'])
  const counted = { has: (one: string) => reads.push(one.length) > 0 && uris.has(one) }
  expect(findContainingUri(uri, { uris: Object.assign(new Set<string>(), counted), lengths })).toBeUndefined()
  expect(reads).toEqual([5, 3])
})
