import fc from 'fast-check'
import { expect, test } from 'vitest'
import { wrapWords } from './printer.ts'

test.each([
  ['one two three', 40, ['one two three']],
  ['aaaaaaaaaa bbbbbbbbbb cccccccccc', 21, ['aaaaaaaaaa bbbbbbbbbb', 'cccccccccc']],
  ['see https://example.com/a/long/address now', 20, ['see', 'https://example.com/a/long/address', 'now']],
  ['one two three', undefined, ['one two three']],
  ['', 40, ['']],
])('%j in a width of %s', (text, width, lines) => {
  expect(wrapWords(text, width)).toEqual(lines)
})

test('a broken text has all its words, and no line that could be shorter', () => {
  const words = fc.array(fc.stringMatching(/^[a-z]{1,30}$/), { minLength: 1, maxLength: 30 })
  fc.assert(
    fc.property(words, fc.integer({ min: 20, max: 60 }), (all, width) => {
      const lines = wrapWords(all.join(' '), width)
      expect(lines.join(' ')).toBe(all.join(' '))
      for (const line of lines) expect(line.length <= width || !line.includes(' ')).toBe(true)
    }),
  )
})
