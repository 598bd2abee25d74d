import { form } from '@x/server'
import * as z from 'zod'
import type { AzureDevOps } from '../../azure-devops/create-azure-devops.ts'
import type { Fields } from '../../azure-devops/work-item.ts'
import type { FieldDefinition } from '../../azure-devops/work-item-type.ts'
import { describeField, type FieldQuestion, sharedFieldQuestion } from '../field-questions.ts'
import { obtainField, type QuestionScope } from '../obtain-field.ts'
import { reasonOf } from '../tool-failure.ts'
import { namesOf, type Target } from './outcome.ts'
import type { EntryOf } from './progress-report.ts'

/** The values that the user gave, or the reason why there are none. */
export type Obtained = { readonly fields: Fields } | { readonly why: string }

/**
 * Asks the user once for each required field, for all waiting work items together. Declined questions and failures of
 * Azure DevOps resolve to a reason; other errors reject.
 */
export async function askForFields(waiting: readonly EntryOf<'waiting'>[], scope: QuestionScope): Promise<Obtained> {
  try {
    const questions = await questionsFor(waiting, scope)
    if (!scope.ctx.can('elicitation.form')) return { why: describeNeededFields(questions) }
    const ids = new Map(waiting.map(({ target }) => [target.id, target]))
    const reasonToReject = (id: number) => (ids.has(id) ? `#${id} is one of those that are being changed.` : undefined)
    const answers = [...questions].map(
      async ([field, { question }]) =>
        [field, await obtainField({ question, subject: '', reasonToReject }, scope)] as const,
    )
    return { fields: Object.fromEntries(await Promise.all(answers)) }
  } catch (error) {
    const why = reasonOf(error)
    if (why === undefined) throw error
    return { why }
  }
}

const decision = form(
  z.object({
    changedMeanwhile: z.enum(['skip', 'overwrite']).describe('Leave them as they are now, or change them all the same'),
  }),
)

/**
 * Asks the user whether to change work items that another user has changed since the search. Returns false if the
 * client cannot ask its user.
 */
export async function mayOverwrite(
  conflicts: readonly EntryOf<'conflict'>[],
  { ctx }: Pick<QuestionScope, 'ctx'>,
): Promise<boolean> {
  if (!ctx.can('elicitation.form')) return false
  const names = namesOf(conflicts.map(({ target }) => target))
  const message = `Another user changed ${names} in the meantime. Change them all the same?`
  const answer = await ctx.elicitResult('changed_meanwhile', { message, schema: decision })
  return answer.action === 'accept' && answer.content.changedMeanwhile === 'overwrite'
}

interface SharedField {
  readonly question: FieldQuestion
  readonly definition: FieldDefinition | undefined
}

/** Makes one question for each required field. The key of the map is the field's reference name. */
async function questionsFor(
  waiting: readonly EntryOf<'waiting'>[],
  { azureDevOps }: QuestionScope,
): Promise<ReadonlyMap<string, SharedField>> {
  const fields = new Set(waiting.flatMap(({ outcome }) => outcome.needs))
  const questions = [...fields].map(async (field) => {
    const targets = waiting.filter(({ outcome }) => outcome.needs.includes(field)).map(({ target }) => target)
    const definition = await sharedDefinition(field, targets, azureDevOps)
    return [field, { definition, question: sharedFieldQuestion(field, definition, namesOf(targets)) }] as const
  })
  return new Map(await Promise.all(questions))
}

/** Merges the definitions of a field in several types: a value is allowed only if every type allows it. */
async function sharedDefinition(
  field: string,
  targets: readonly Target[],
  azureDevOps: AzureDevOps,
): Promise<FieldDefinition | undefined> {
  const names = [...new Set(targets.map(({ type }) => type))]
  const types = await Promise.all(names.map((name) => azureDevOps.workItemType(name)))
  const [first, ...others] = types.flatMap(({ fields }) => fields.get(field) ?? [])
  if (first === undefined) return undefined
  const accepted = (value: string) => others.every(({ allowedValues }) => allowedValues.includes(value))
  return { ...first, allowedValues: first.allowedValues.filter(accepted) }
}

function describeNeededFields(questions: ReadonlyMap<string, SharedField>): string {
  const needed = [...questions].map(([field, { definition }]) => describeField(field, definition))
  return `rules require ${needed.join(' and ')}: call again for them, with that in fields.`
}
