import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fromStoredText, toStoredText } from './stored-values.ts'

const anyText = fc
  .string({ unit: 'binary' })
  .chain((text) => fc.constantFrom(text, `${text}\0`, `${text}\ud800`, `"${text}`, toStoredText(text)))

test('every text is restored from its stored form', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const stored = toStoredText(text)
      expect(stored).not.toMatch(/\0|\p{Surrogate}/u)
      expect(fromStoredText(stored)).toBe(text)
    }),
  )
})

test('an ordinary text is stored as it is', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z0-9 ä-ö😀]+$/u), (text) => {
      expect(toStoredText(text)).toBe(text)
    }),
  )
})
