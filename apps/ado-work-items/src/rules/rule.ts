import * as z from 'zod'

/** A condition of a rule. The types are those of the service, such as `when` and `whenChanged`. */
export interface Condition {
  readonly type: string
  readonly field: string
  readonly value?: string | undefined
}

/**
 * A rule of the process. If every condition holds, the fields in `requires` must have a value, and the fields in
 * `empties` are cleared.
 */
export interface Rule {
  readonly name: string
  readonly conditions: readonly Condition[]
  readonly requires: readonly string[]
  readonly empties: readonly string[]
}

const wireRules = z.object({
  value: z.array(
    z.object({
      name: z.string().catch('(unnamed)'),
      isDisabled: z.boolean().catch(false),
      conditions: z.array(
        z.object({ conditionType: z.string(), field: z.string().nullish(), value: z.string().nullish() }),
      ),
      actions: z.array(z.object({ actionType: z.string(), targetField: z.string().nullish() })),
    }),
  ),
})

/** Parses the rules that require or clear fields from the service's list of rules. Throws `ZodError`. */
export function parseRules(value: unknown): readonly Rule[] {
  return wireRules
    .parse(value)
    .value.filter((rule) => !rule.isDisabled)
    .map((rule) => ({
      name: rule.name,
      conditions: rule.conditions.map((condition) => ({
        type: plainType(condition.conditionType),
        field: condition.field ?? '',
        value: condition.value ?? undefined,
      })),
      requires: targetsOf(rule.actions, 'makeRequired'),
      empties: targetsOf(rule.actions, 'setValueToEmpty'),
    }))
    .filter(({ requires, empties }) => requires.length + empties.length > 0)
}

interface Action {
  readonly actionType: string
  readonly targetField?: string | null | undefined
}

function targetsOf(actions: readonly Action[], type: string): readonly string[] {
  return actions.flatMap(({ actionType, targetField }) => (plainType(actionType) === type ? (targetField ?? []) : []))
}

/** The service writes `$when` in some responses and `when` in others. */
function plainType(type: string): string {
  return type.replace(/^\$/, '')
}
