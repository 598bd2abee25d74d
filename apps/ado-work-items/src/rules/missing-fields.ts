import type { Condition, Rule } from './rule.ts'

/** Field values by reference name. */
type Values = Readonly<Record<string, unknown>>

/** A work item before and after a change. */
export interface Change {
  readonly before: Values
  readonly after: Values
}

/** A field that a rule requires and that has no value. */
export interface MissingField {
  readonly field: string
  readonly rule: string
  /** The conditions of the rule, as the end of a sentence: `System.State is Resolved`. */
  readonly because: string
}

type Holds = (condition: Condition, change: Change) => boolean

/**
 * The evaluation of each condition type. Other types, such as those about groups of users, cannot be evaluated from a
 * work item alone. The service enforces the rules that contain them.
 */
const conditions: ReadonlyMap<string, { readonly holds: Holds; readonly words: (condition: Condition) => string }> =
  new Map([
    [
      'when',
      { holds: (c, { after }) => same(valueOf(after, c.field), c.value), words: (c) => `${c.field} is ${c.value}` },
    ],
    [
      'whenNot',
      {
        holds: (c, { after }) => !same(valueOf(after, c.field), c.value),
        words: (c) => `${c.field} is not ${c.value}`,
      },
    ],
    [
      'whenWas',
      { holds: (c, { before }) => same(valueOf(before, c.field), c.value), words: (c) => `${c.field} was ${c.value}` },
    ],
    ['whenChanged', { holds: changes, words: (c) => `${c.field} changes` }],
    ['whenNotChanged', { holds: (c, change) => !changes(c, change), words: (c) => `${c.field} does not change` }],
    [
      'whenStateChangedTo',
      {
        holds: (c, change) => changes(state, change) && same(valueOf(change.after, state.field), c.value),
        words: (c) => `${state.field} changes to ${c.value}`,
      },
    ],
    [
      'whenValueIsDefined',
      { holds: (c, { after }) => !isEmpty(valueOf(after, c.field)), words: (c) => `${c.field} has a value` },
    ],
    [
      'whenValueIsNotDefined',
      { holds: (c, { after }) => isEmpty(valueOf(after, c.field)), words: (c) => `${c.field} has no value` },
    ],
  ])

const state: Condition = { type: 'when', field: 'System.State' }

/** Returns the fields that the rules require for a change and that have no value, in the order of the rules. */
export function missingFields(rules: readonly Rule[], change: Change): readonly MissingField[] {
  return rules
    .filter((rule) => ruleApplies(rule, change))
    .flatMap((rule) =>
      rule.requires
        .filter((field) => isEmpty(valueOf(change.after, field)))
        .map((field) => ({ field, rule: rule.name, because: rule.conditions.map(wordsOf).join(' and ') })),
    )
}

/** Returns true when every condition of a rule holds. */
export function ruleApplies({ conditions: all }: Rule, change: Change): boolean {
  return all.every((condition) => holds(condition, change))
}

function holds(condition: Condition, change: Change): boolean {
  return conditions.get(condition.type)?.holds(condition, change) ?? false
}

function wordsOf(condition: Condition): string {
  return conditions.get(condition.type)?.words(condition) ?? condition.type
}

function changes({ field }: Condition, { before, after }: Change): boolean {
  return !same(valueOf(before, field), valueOf(after, field))
}

function valueOf(values: Values, field: string): unknown {
  return Object.hasOwn(values, field) ? values[field] : undefined
}

/** Compares values as the service does: case-insensitively, and with empty equal to absent. */
function same(left: unknown, right: unknown): boolean {
  if (isEmpty(left) || isEmpty(right)) return isEmpty(left) && isEmpty(right)
  return String(left).toLowerCase() === String(right).toLowerCase()
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}
