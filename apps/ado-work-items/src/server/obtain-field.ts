import type { Context } from '@x/server'
import { AzureDevOpsError } from '../azure-devops/azure-devops-error.ts'
import type { AzureDevOps } from '../azure-devops/create-azure-devops.ts'
import type { FieldValue } from '../azure-devops/work-item.ts'
import type { FieldQuestion } from './field-questions.ts'
import { ToolFailure } from './tool-failure.ts'

/** Whom to ask, and where to look whether an answer can be right. */
export interface QuestionScope {
  readonly ctx: Pick<Context, 'can' | 'elicit' | 'step'>
  readonly azureDevOps: Pick<AzureDevOps, 'getWorkItem'>
}

/** A field that a user is to be asked for. */
export interface WantedField {
  readonly question: FieldQuestion
  /** Stands before the reason when it is given up, such as `Bug #1 was not changed: `. */
  readonly subject: string
  /**
   * Returns the reason to reject a work item as the answer, as a sentence; undefined when it is acceptable, provided
   * that it exists.
   */
  readonly reasonToReject: (id: number) => string | undefined
}

/** The number of attempts that a user has to name an acceptable work item. */
const maxAttempts = 3

/**
 * The user's answer to a question about a field. A work item that cannot be meant is asked for once more. Rejects with
 * {@link ToolFailure} when there is still none after three times, and with `InputDeclined` when the user would not
 * answer.
 */
export async function obtainField(wanted: WantedField, { ctx, azureDevOps }: QuestionScope): Promise<FieldValue> {
  const { key, message, schema, isWorkItem } = wanted.question
  if (!isWorkItem) return ctx.elicit(key, { message, schema })
  let problem = ''
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const again = attempt === 1 ? '' : `/${attempt}`
    const id = await ctx.elicit(`${key}${again}`, { message: `${problem}${message}`, schema })
    problem = await ctx.step(`find_${key}${again}`, ({ signal }) =>
      findProblem(Number(id), wanted, { azureDevOps, signal }),
    )
    if (problem === '') return id
  }
  throw new ToolFailure(`${wanted.subject}${problem}Find the right one, then call again.`, problem.trim())
}

/**
 * Returns the reason to reject a work item at the other end of a link, as a sentence before the next one; empty when it
 * is acceptable.
 */
async function findProblem(
  id: number,
  { reasonToReject }: WantedField,
  { azureDevOps, signal }: Pick<QuestionScope, 'azureDevOps'> & { readonly signal: AbortSignal },
): Promise<string> {
  const reason = reasonToReject(id)
  if (reason !== undefined) return `${reason} `
  try {
    await azureDevOps.getWorkItem(id, signal)
    return ''
  } catch (error) {
    if (error instanceof AzureDevOpsError && error.code === 'not_found') return `There is no work item #${id}. `
    throw error
  }
}
