import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseQuery, QueryError } from './query.ts'

const macros = { project: 'P', me: 'Jamal' }
const item = {
  'System.Id': 4522,
  'System.Title': 'Total is wrong',
  'System.State': 'Active',
  'System.TeamProject': 'P',
  'System.AssignedTo': { displayName: 'Jamal', uniqueName: 'jamal@example' },
}

test.each([
  ["[System.State] = 'active'", true],
  ["[System.State] <> 'Active'", false],
  ['[System.Id] = 4522', true],
  ['[System.Id] > 4522', false],
  ['[System.Id] >= 4522 AND [System.Id] < 4523', true],
  ["[System.Title] CONTAINS 'WRONG'", true],
  ["[System.Title] contains 'right' or [System.State] = 'Active'", true],
  ["([System.State] = 'New' OR [System.Id] = 4522) AND [System.TeamProject] = @project", true],
  ["[System.State] = 'Active' OR [System.State] = 'New' AND [System.Id] = 1", true],
  ['[System.AssignedTo] = @Me', true],
  ["[System.AssignedTo] = 'jamal@example'", true],
  ["[System.AssignedTo] = 'Raisa'", false],
])('the condition %s: %s', (condition, expected) => {
  const query = parseQuery(`SELECT [System.Id], [System.Title] FROM WorkItems WHERE ${condition}`, macros)
  expect(query.matches(item)).toBe(expected)
})

test('results are ordered by a field, upwards or downwards', () => {
  const rows = [{ n: 2 }, { n: 10 }, { n: 1 }]
  const sorted = (end: string) =>
    [...rows].sort(parseQuery(`SELECT [n] FROM WorkItems ORDER BY [n] ${end}`, macros).compare).map(({ n }) => n)
  expect([sorted(''), sorted('ASC'), sorted('DESC')]).toEqual([
    [1, 2, 10],
    [1, 2, 10],
    [10, 2, 1],
  ])
})

describe('a query is rejected', () => {
  test.each([
    ['that has no FROM', 'SELECT [a]', 'expecting FROM, found the end'],
    ['whose text does not end', "SELECT [a] FROM WorkItems WHERE [a] = 'x", 'cannot read'],
    ['with an unknown operator', 'SELECT [a] FROM WorkItems WHERE [a] LIKE 1', 'expecting an operator, found LIKE'],
    ['with words after its end', 'SELECT [a] FROM WorkItems; DROP', 'cannot read'],
    ['with a parenthesis left open', 'SELECT [a] FROM WorkItems WHERE ([a] = 1', 'expecting ), found the end'],
    ['that is too deep', `SELECT [a] FROM WorkItems WHERE ${'('.repeat(51)}`, 'fewer parentheses'],
    ['that is too long', `SELECT [a] FROM WorkItems WHERE [a] = '${'x'.repeat(32_000)}'`, 'more than 32000 characters'],
  ])('%s', (_, text, message) => {
    expect(() => parseQuery(text, macros)).toThrow(QueryError)
    expect(() => parseQuery(text, macros)).toThrow(message)
  })

  test('with a QueryError and no other error, for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(() => parseQuery(`SELECT [a] FROM WorkItems WHERE ${text}`, macros)).toThrow(QueryError)
      }),
    )
  })
})
