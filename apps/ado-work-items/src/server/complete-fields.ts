import type { Fields } from '../azure-devops/work-item.ts'
import type { WorkItemType } from '../azure-devops/work-item-type.ts'
import { type MissingField, missingFields } from '../rules/missing-fields.ts'
import type { Basis } from './basis.ts'
import { fieldQuestion } from './field-questions.ts'
import { obtainField, type QuestionScope } from './obtain-field.ts'
import { ToolFailure } from './tool-failure.ts'

/** A change that was asked for, with what it is judged by. */
export interface WantedChange {
  readonly basis: Basis
  readonly type: WorkItemType
  readonly fields: Fields
}

/**
 * The fields of a change with everything that the rules of the process require. The user is asked for what is missing.
 *
 * An answer can bring another rule into force, so the rules are asked again until none wants more. Rejects with {@link
 * ToolFailure} if the client cannot ask its user, and with `InputDeclined` when the user would not answer.
 */
export async function completeFields(change: WantedChange, scope: QuestionScope): Promise<Fields> {
  let { fields } = change
  for (;;) {
    const before = change.basis.fields
    const missing = missingFields(change.type.rules, { before, after: { ...before, ...fields } })
    if (missing.length === 0) return fields
    fields = { ...fields, ...(await obtainFields(missing, change, scope)) }
  }
}

/** Asks for every missing field at once, each with a question of its own. */
async function obtainFields(
  missing: readonly MissingField[],
  change: WantedChange,
  scope: QuestionScope,
): Promise<Fields> {
  if (!scope.ctx.can('elicitation.form')) throw missingFieldsFailure(missing, change)
  const { basis, type } = change
  // Two rules may want the same field.
  const wanted = new Map(missing.map((one) => [one.field, fieldQuestion(one, type.fields.get(one.field), basis)]))
  const reasonToReject = (id: number) =>
    id === basis.id ? `${basis.type} #${id} is the one that is being changed.` : undefined
  const subject = `${basis.type} #${basis.id} was not changed: `
  const answers = [...wanted].map(
    async ([field, question]) => [field, await obtainField({ question, subject, reasonToReject }, scope)] as const,
  )
  return Object.fromEntries(await Promise.all(answers))
}

/** For a client that cannot ask its user: what the caller has to add. */
function missingFieldsFailure(missing: readonly MissingField[], { basis, type }: WantedChange): ToolFailure {
  const reasons = missing.map(
    ({ rule, field, because }) => `rule "${rule}" requires the field ${describeField(field, type)} when ${because}`,
  )
  const those = missing.length === 1 ? 'that field' : 'those fields'
  return new ToolFailure(`${basis.type} #${basis.id} was not changed: ${reasons.join('; ')}. Call again with ${those}.`)
}

/** A field with what it accepts: `Microsoft.VSTS.Common.ResolvedReason (Fixed, Won't Fix)`, else with its name. */
function describeField(field: string, type: WorkItemType): string {
  const definition = type.fields.get(field)
  if (definition === undefined) return field
  const hint = definition.allowedValues.length > 0 ? definition.allowedValues.join(', ') : definition.name
  return hint === '' ? field : `${field} (${hint})`
}
