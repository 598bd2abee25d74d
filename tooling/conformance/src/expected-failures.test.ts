import { describe, expect, test } from 'vitest'
import { parseExpectedFailures, readExpectedFailures, unknownExpectations } from './expected-failures.ts'

const entry = { scenario: 'caching', reason: 'not written yet' }
const text = (server: unknown[]) => JSON.stringify({ '2026-07-28': { server, client: [] } })

describe('expected-failures.json', () => {
  test('has entries by revision and leg', () => {
    expect(parseExpectedFailures(text([entry]), '2026-07-28', 'server').get('caching')).toEqual(entry)
    expect(parseExpectedFailures(text([entry]), '2026-07-28', 'client').size).toBe(0)
    expect(parseExpectedFailures(text([entry]), '2025-11-25', 'server').size).toBe(0)
  })

  test.each([
    ['an entry without a reason', [{ scenario: 'caching' }], 'reason'],
    ['an entry with a reason that is too short', [{ scenario: 'caching', reason: 'todo' }], 'reason'],
    ['an empty list of checks', [{ ...entry, checks: [] }], 'checks'],
    ['an unknown field', [{ ...entry, check: 'one' }], 'check'],
    ['a scenario that is listed twice', [entry, entry], 'caching twice'],
  ])('is rejected with %s', (_, server, message) => {
    expect(() => parseExpectedFailures(text(server), '2026-07-28', 'server')).toThrow(message)
  })

  test('has a list of entries whose scenario the suite does not have', () => {
    const expected = parseExpectedFailures(text([entry, { ...entry, scenario: 'cashing' }]), '2026-07-28', 'server')
    expect(unknownExpectations(expected, { scored: ['caching'], others: [] })).toEqual(['cashing'])
  })

  test.each(['server', 'client'] as const)('of this package is valid for the %s leg', (leg) => {
    expect(readExpectedFailures('2026-07-28', leg)).toBeInstanceOf(Map)
  })
})
