import { expect, test } from 'vitest'
import { quoteText, toPrintableLine } from './quote-text.ts'

test.each([
  ['a name', 'add', '"add"'],
  ['letters of any language', 'Größe 大', '"Größe 大"'],
  ['quotes and line breaks', 'a"b\nc', String.raw`"a\"b\nc"`],
  ['an escape sequence of a terminal', '\u001b[2J\u009b', String.raw`"\u001b[2J\u009b"`],
  ['a character that reverses others', 'a\u202eb', String.raw`"a\u202eb"`],
  ['a line separator', 'a\u2028b', String.raw`"a\u2028b"`],
  ['half of a character', 'a\ud800', String.raw`"a\ud800"`],
  ['a control character outside of the basic plane', '\u{e0001}', String.raw`"\udb40\udc01"`],
  ['the longest text', 'x'.repeat(128), `"${'x'.repeat(128)}"`],
  ['a text that is one longer', 'x'.repeat(129), `"${'x'.repeat(128)}…"`],
  ['another value', { a: [1, null] }, '{"a":[1,null]}'],
  ['another value that is long', Array(200).fill(1), `[${'1,'.repeat(63)}1…`],
  ['nothing', undefined, 'undefined'],
])('%s is quoted', (_, value, quoted) => {
  expect(quoteText(value)).toBe(quoted)
})

test('a printable line neither breaks, hides nor reverses what follows, and has at most so many characters', () => {
  expect(toPrintableLine(' a\r\n\u001b[2Jb\u202ec\u2028\u200bd ', 20)).toBe('a [2Jb c d')
  expect(toPrintableLine('x'.repeat(30), 20)).toBe('x'.repeat(20))
})
