import type { Context } from '@x/server'
import { AzureDevOpsError } from '../azure-devops/azure-devops-error.ts'
import type { AzureDevOps } from '../azure-devops/create-azure-devops.ts'
import type { FieldValue } from '../azure-devops/work-item.ts'
import type { FieldQuestion } from './field-questions.ts'
import { ToolFailure } from './tool-failure.ts'

/** The context of the call, and the access to work items that answers refer to. */
export interface QuestionScope {
  readonly ctx: Context
  readonly azureDevOps: AzureDevOps
}

/** A field to ask the user for. */
export interface WantedField {
  readonly question: FieldQuestion
  /** The start of the error message after the last attempt, such as `Bug #1 was not changed: `. */
  readonly subject: string
  /** Returns a sentence with the reason to reject a work item as the answer. Undefined accepts it, if it exists. */
  readonly reasonToReject: (id: number) => string | undefined
}

/** The number of times that the user is asked for an acceptable work item. */
const maxAttempts = 3

/**
 * Asks the user for a field and returns the value. If the answer is a work item that is not acceptable, the question is
 * repeated with the reason. Rejects with {@link ToolFailure} after three attempts, and with `InputDeclined` if the user
 * declines.
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
 * Returns a sentence with the reason to reject the linked work item, followed by a space. Returns an empty string if it
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
