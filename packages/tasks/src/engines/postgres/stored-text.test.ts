import fc from 'fast-check'
import { expect, test } from 'vitest'
import { originalText, storedText } from './stored-text.ts'

const anyText = fc
  .string({ unit: 'binary' })
  .chain((text) => fc.constantFrom(text, `${text}\0`, `${text}\ud800`, `"${text}`, storedText(text)))

test('every text comes back, from one that PostgreSQL can hold', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const stored = storedText(text)
      expect(stored).not.toMatch(/\0|\p{Surrogate}/u)
      expect(originalText(stored)).toBe(text)
    }),
  )
})

test('an ordinary text is stored as it is', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z0-9 ä-ö😀]+$/u), (text) => {
      expect(storedText(text)).toBe(text)
    }),
  )
})
