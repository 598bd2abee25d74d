import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseQuery, QueryError } from './query.ts'

const macros = { project: 'P', me: 'Jamal' }
const item = {
  'System.Id': 4522,
  'System.Title': 'Total is wrong',
  'System.State': 'Active',
  'System.TeamProject': 'P',
  'System.AssignedTo': { displayName: 'Jamal', uniqueName: 'jamal@example' },
}
const parse = (condition: string) =>
  parseQuery(`SELECT [System.Id] FROM WorkItems WHERE ${condition} ORDER BY [System.Id] DESC`, macros)

test.each([
  ["[System.State] = 'active'", true],
  ['[System.Id] >= 4522 AND [System.Id] <= 4522', true],
  ["[System.Title] CONTAINS 'WRONG'", true],
  ["([System.State] = 'New' OR [System.Id] = 4522) AND [System.TeamProject] = @project", true],
  ["[System.State] = 'Active' OR [System.State] = 'New' AND [System.Id] = 1", true],
  ['[System.AssignedTo] = @Me', true],
  ["[System.AssignedTo] = 'jamal@example'", true],
  ["[System.AssignedTo] = 'Raisa'", false],
])('the condition %s: %s', (condition, expected) => {
  expect(parse(condition).matches(item)).toBe(expected)
})

test('results are ordered downwards', () => {
  const ids = [2, 10, 1].map((id) => ({ 'System.Id': id }))
  expect(ids.toSorted(parse('[System.Id] = 1').compare).map((one) => one['System.Id'])).toEqual([10, 2, 1])
})

test.each([
  ['SELECT', 'expecting a comparison'],
  ["SELECT [System.Id] FROM WorkItems WHERE [a] = 'x ORDER BY [a] DESC", 'cannot read'],
  ['SELECT [System.Id] FROM WorkItems WHERE ([a] = 1 ORDER BY [a] DESC', 'expecting ), found the end'],
])('the query %s is rejected', (text, message) => {
  expect(() => parseQuery(text, macros)).toThrow(message)
})

test('any text is a condition or a QueryError', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary-ascii' }), (condition) => {
      expect(() => parse(condition)).toThrow(QueryError)
    }),
  )
})
