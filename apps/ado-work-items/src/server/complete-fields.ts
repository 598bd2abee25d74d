import type { Context } from '@x/server'
import { AzureDevOpsError } from '../azure-devops/azure-devops-error.ts'
import type { AzureDevOps } from '../azure-devops/create-azure-devops.ts'
import type { Fields, FieldValue } from '../azure-devops/work-item.ts'
import type { WorkItemType } from '../azure-devops/work-item-type.ts'
import { type MissingField, missingFields } from '../rules/missing-fields.ts'
import type { Basis } from './basis.ts'
import { type FieldQuestion, fieldQuestion } from './field-questions.ts'
import { ToolFailure } from './tool-failure.ts'

/** A change that was asked for, with what it is judged by. */
export interface WantedChange {
  readonly basis: Basis
  readonly type: WorkItemType
  readonly fields: Fields
}

/** Whom to ask, and where to look whether an answer can be right. */
export interface Asking {
  readonly ctx: Pick<Context, 'can' | 'elicit' | 'step'>
  readonly azureDevOps: Pick<AzureDevOps, 'getWorkItem'>
}

/** How often a user may name a work item that cannot be meant. */
const patience = 3

/**
 * The fields of a change with everything that the rules of the process require. The user is asked for what is missing.
 *
 * An answer can bring another rule into force, so the rules are asked again until none wants more. Rejects with
 * {@link ToolFailure} when nobody can be asked, and with `InputDeclined` when the user would not answer.
 */
export async function completeFields(change: WantedChange, asking: Asking): Promise<Fields> {
  let { fields } = change
  for (;;) {
    const before = change.basis.fields
    const missing = missingFields(change.type.rules, { before, after: { ...before, ...fields } })
    if (missing.length === 0) return fields
    fields = { ...fields, ...(await obtainFields(missing, change, asking)) }
  }
}

/** Asks for every missing field at once, each with a question of its own. */
async function obtainFields(missing: readonly MissingField[], change: WantedChange, asking: Asking): Promise<Fields> {
  if (!asking.ctx.can('elicitation.form')) throw nobodyToAsk(missing, change)
  const { basis, type } = change
  // Two rules may want the same field.
  const wanted = new Map(missing.map((one) => [one.field, fieldQuestion(one, type.fields.get(one.field), basis)]))
  const answers = [...wanted].map(async ([field, question]) => [field, await obtain(question, basis, asking)] as const)
  return Object.fromEntries(await Promise.all(answers))
}

async function obtain(question: FieldQuestion, basis: Basis, { ctx, azureDevOps }: Asking): Promise<FieldValue> {
  const { key, message, schema, isWorkItem } = question
  if (!isWorkItem) return ctx.elicit(key, { message, schema })
  let problem = ''
  for (let attempt = 1; attempt <= patience; attempt++) {
    const again = attempt === 1 ? '' : `/${attempt}`
    const id = await ctx.elicit(`${key}${again}`, { message: `${problem}${message}`, schema })
    problem = await ctx.step(`find_${key}${again}`, ({ signal }) =>
      problemWith(Number(id), basis, { azureDevOps, signal }),
    )
    if (problem === '') return id
  }
  throw new ToolFailure(`${basis.type} #${basis.id} was not changed: ${problem}Find the right one, then call again.`)
}

/** Why a work item cannot be at the other end of a link, as a sentence before the next one; empty when it can. */
async function problemWith(
  id: number,
  basis: Basis,
  { azureDevOps, signal }: Pick<Asking, 'azureDevOps'> & { readonly signal: AbortSignal },
): Promise<string> {
  if (id === basis.id) return `${basis.type} #${id} is the one that is being changed. `
  try {
    await azureDevOps.getWorkItem(id, signal)
    return ''
  } catch (error) {
    if (error instanceof AzureDevOpsError && error.code === 'not-found') return `There is no work item #${id}. `
    throw error
  }
}

/** For a client that cannot ask its user: what the caller has to add. */
function nobodyToAsk(missing: readonly MissingField[], { basis, type }: WantedChange): ToolFailure {
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
