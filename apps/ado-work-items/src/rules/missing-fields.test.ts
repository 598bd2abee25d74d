import { describe, expect, test } from 'vitest'
import { missingFields } from './missing-fields.ts'
import { parseRules } from './rule.ts'

const before = { 'System.State': 'Active', 'Custom.Team': 'Blue' }

describe('a rule requires its field', () => {
  test.each([
    ['when', 'System.State', 'Resolved', { 'System.State': 'Resolved' }, true],
    ['when', 'System.State', 'Resolved', { 'System.State': 'resolved' }, true],
    ['$when', 'System.State', 'Resolved', { 'System.State': 'Closed' }, false],
    ['whenNot', 'System.State', 'Active', { 'System.State': 'Closed' }, true],
    ['whenWas', 'System.State', 'Active', { 'System.State': 'Closed' }, true],
    ['whenWas', 'System.State', 'New', { 'System.State': 'Closed' }, false],
    ['whenChanged', 'Custom.Team', undefined, { 'Custom.Team': 'Red' }, true],
    ['whenChanged', 'Custom.Team', undefined, { 'Custom.Team': 'Blue' }, false],
    ['whenNotChanged', 'Custom.Team', undefined, {}, true],
    ['whenStateChangedTo', '', 'Resolved', { 'System.State': 'Resolved' }, true],
    ['whenStateChangedTo', '', 'Active', {}, false],
    ['whenValueIsDefined', 'Custom.Team', undefined, {}, true],
    ['whenValueIsNotDefined', 'Custom.Team', undefined, { 'Custom.Team': '' }, true],
    ['whenCurrentUserIsMemberOfGroup', '', 'Everyone', {}, false],
  ])('by the condition %s %s %s, after %j: %s', (conditionType, field, value, change, expected) => {
    const rules = parseRules({ value: [rule({ conditions: [{ conditionType, field, value }] })] })
    const missing = missingFields(rules, { before, after: { ...before, ...change } })
    expect(missing.map((entry) => entry.field)).toEqual(expected ? ['Custom.Why'] : [])
  })

  test('only when all of its conditions hold, and says which they were', () => {
    const conditions = [
      { conditionType: '$when', field: 'System.State', value: 'Resolved' },
      { conditionType: '$whenChanged', field: 'Custom.Team', value: null },
    ]
    const rules = parseRules({ value: [rule({ conditions })] })
    const resolved = { ...before, 'System.State': 'Resolved' }
    expect(missingFields(rules, { before, after: resolved })).toEqual([])
    expect(missingFields(rules, { before, after: { ...resolved, 'Custom.Team': 'Red' } })).toEqual([
      { field: 'Custom.Why', rule: 'Say why', because: 'System.State is Resolved and Custom.Team changes' },
    ])
  })

  test('not when the field has a value, even zero', () => {
    const rules = parseRules({ value: [rule({ conditions: [] })] })
    expect(missingFields(rules, { before, after: { 'Custom.Why': 0 } })).toEqual([])
    expect(missingFields(rules, { before, after: { 'Custom.Why': '' } })).toHaveLength(1)
  })
})

test.each([
  ['a disabled rule', rule({ isDisabled: true })],
  ['a rule that requires nothing', rule({ actions: [{ actionType: '$makeReadOnly', targetField: 'Custom.Why' }] })],
])('%s is left out', (_, wire) => {
  expect(parseRules({ value: [wire] })).toEqual([])
})

test('a field named like an inherited property of objects has no value', () => {
  const conditions = [{ conditionType: 'whenValueIsDefined', field: 'constructor' }]
  expect(missingFields(parseRules({ value: [rule({ conditions })] }), { before, after: {} })).toEqual([])
})

function rule(parts: Record<string, unknown>): Record<string, unknown> {
  const actions = [{ actionType: '$makeRequired', targetField: 'Custom.Why', value: '' }]
  return { name: 'Say why', isDisabled: false, conditions: [], actions, ...parts }
}
