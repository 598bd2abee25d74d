import type { Fields } from '../azure-devops/work-item.ts'
import { type MissingField, missingFields } from '../rules/missing-fields.ts'
import { describeField, fieldQuestion } from './field-questions.ts'
import { obtainField, type QuestionScope } from './obtain-field.ts'
import type { WantedChange } from './save-change.ts'
import { ToolFailure } from './tool-failure.ts'

/**
 * Returns the fields of a change, completed with every field that the rules of the process require. The user is asked
 * for the missing values.
 *
 * An answer can make another rule apply, so the rules are evaluated again after each answer. Rejects with {@link
 * ToolFailure} if the client cannot ask its user, and with `InputDeclined` if the user declines.
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

/** Asks for all missing fields at once, with one question for each field. */
async function obtainFields(
  missing: readonly MissingField[],
  change: WantedChange,
  scope: QuestionScope,
): Promise<Fields> {
  if (!scope.ctx.can('elicitation.form')) throw missingFieldsFailure(missing, change)
  const { basis, type } = change
  // Two rules may require the same field.
  const wanted = new Map(missing.map((one) => [one.field, fieldQuestion(one, type.fields.get(one.field), basis)]))
  const reasonToReject = (id: number) =>
    id === basis.id ? `${basis.type} #${id} is the one that is being changed.` : undefined
  const subject = `${basis.type} #${basis.id} was not changed: `
  const answers = [...wanted].map(
    async ([field, question]) => [field, await obtainField({ question, subject, reasonToReject }, scope)] as const,
  )
  return Object.fromEntries(await Promise.all(answers))
}

/** Creates the error for a client that cannot ask its user. The message names the rules and the fields to add. */
function missingFieldsFailure(missing: readonly MissingField[], { basis, type }: WantedChange): ToolFailure {
  const reasons = missing.map(
    ({ rule, field, because }) =>
      `rule "${rule}" requires the field ${describeField(field, type.fields.get(field))} when ${because}`,
  )
  const those = missing.length === 1 ? 'that field' : 'those fields'
  return new ToolFailure(`${basis.type} #${basis.id} was not changed: ${reasons.join('; ')}. Call again with ${those}.`)
}
