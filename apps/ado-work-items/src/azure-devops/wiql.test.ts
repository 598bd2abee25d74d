import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseQuery } from '../emulator/query.ts'
import { buildWiql, quote } from './wiql.ts'

const macros = { project: 'P', me: 'Jamal Hartnett' }

test.each([
  [{}, ''],
  [{ state: 'Active' }, " AND [System.State] = 'Active'"],
  [{ type: 'User Story' }, " AND [System.WorkItemType] = 'User Story'"],
  [{ assignedTo: 'Me' }, ' AND [System.AssignedTo] = @Me'],
  [{ assignedTo: "Pat O'Hara" }, " AND [System.AssignedTo] = 'Pat O''Hara'"],
  [{ text: "x' OR [System.Id] > 0 --" }, " AND [System.Title] CONTAINS 'x'' OR [System.Id] > 0 --'"],
])('the filters %j become the condition "%s"', (filters, condition) => {
  expect(buildWiql(filters)).toBe(
    `SELECT [System.Id] FROM WorkItems WHERE [System.TeamProject] = @project${condition} ORDER BY [System.ChangedDate] DESC`,
  )
})

test('a control character becomes a space', () => {
  expect(quote('a\u0000b\nc\u0085d')).toBe("'a b c d'")
})

// fast-check's own unit of all characters takes seconds to set up.
const unit = fc.integer({ min: 0, max: 0xd7ff }).map((code) => String.fromCharCode(code))

test('for any text, the query asks for that text and nothing else', () => {
  fc.assert(
    fc.property(fc.string({ unit, minLength: 1 }), fc.string({ unit }), (text, other) => {
      const plain = text.replace(/\p{Cc}/gu, ' ')
      const { matches } = parseQuery(buildWiql({ text }), macros)
      expect(matches({ 'System.TeamProject': 'P', 'System.Title': `a ${plain} b` })).toBe(true)
      expect(matches({ 'System.TeamProject': 'Q', 'System.Title': plain })).toBe(false)
      const fits = other.toLowerCase().includes(plain.toLowerCase())
      expect(matches({ 'System.TeamProject': 'P', 'System.Title': other })).toBe(fits)
    }),
  )
})

test('a prefix of ids finds exactly the ids that begin with it', () => {
  const id = fc.integer({ min: 1, max: 2_147_483_647 })
  fc.assert(
    fc.property(id, id, fc.nat({ max: 10 }), (prefix, other, digits) => {
      const idPrefix = String(prefix)
      const { matches } = parseQuery(buildWiql({ idPrefix }), macros)
      for (const candidate of [other, Number(`${idPrefix}${'7'.repeat(digits)}`.slice(0, 10))]) {
        const expected = String(candidate).startsWith(idPrefix)
        expect(matches({ 'System.TeamProject': 'P', 'System.Id': candidate })).toBe(expected)
      }
    }),
  )
})
