import { expect, test } from 'vitest'
import { labelFromName } from '@x/client/forms'
import type { FieldKind } from './field.ts'
import { limitsOf } from './limits.ts'

test.each<[FieldKind, string | undefined]>([
  [{ type: 'text' }, undefined],
  [{ type: 'text', minLength: 0, maxLength: 80 }, 'At most 80 characters'],
  [{ type: 'text', minLength: 5, maxLength: 20 }, '5 to 20 characters'],
  [{ type: 'text', minLength: 4, maxLength: 4 }, '4 characters'],
  [{ type: 'number', whole: false }, undefined],
  [{ type: 'number', whole: false, minimum: 0, maximum: 1 }, '0 to 1'],
  [{ type: 'number', whole: true }, 'A whole number'],
  [{ type: 'number', whole: true, minimum: 1, maximum: 2_147_483_647 }, 'A whole number, at least 1'],
  [{ type: 'number', whole: true, minimum: -9_007_199_254_740_991, maximum: 9_007_199_254_740_991 }, 'A whole number'],
  [{ type: 'choices', options: [], minItems: 1 }, 'At least 1 option'],
  [{ type: 'json' }, 'Written as JSON'],
  [{ type: 'flag' }, undefined],
])('%o is bounded in words', (kind, words) => {
  expect(limitsOf(kind)).toBe(words)
})

test.each([
  ['duplicateOfId', 'Duplicate of id'],
  ['duplicate_of', 'Duplicate of'],
  ['top', 'Top'],
  ['_', '_'],
])('the name %s is the label %s', (name, label) => {
  expect(labelFromName(name)).toBe(label)
})
