import { InputDeclined } from '@x/server'
import { AzureDevOpsError, type AzureDevOpsErrorCode } from '../azure-devops/azure-devops-error.ts'

/** The failure of a tool. The message states how the model can correct the call. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure'
  /** The reason without the work item's name, for a response about several work items. */
  readonly reason: string

  constructor(message: string, reason: string = message) {
    super(message)
    this.reason = reason
  }
}

/**
 * Returns the reason why a work item was not changed. Returns undefined for an error that may contain private details.
 */
export function reasonOf(error: unknown): string | undefined {
  if (error instanceof ToolFailure) return error.reason
  if (error instanceof InputDeclined)
    return `the user ${error.action === 'decline' ? 'declined to answer' : 'dismissed the question'} "${error.key}".`
  if (!(error instanceof AzureDevOpsError)) return undefined
  // An error that names the work item has the original error of Azure DevOps as its cause.
  return error.cause instanceof AzureDevOpsError ? error.cause.message : error.message
}

/** The result of a failed tool call, which the model reads before it tries again. */
export interface FailedResult {
  readonly content: { readonly type: 'text'; readonly text: string }[]
  readonly isError: true
}

const advice: Readonly<Record<AzureDevOpsErrorCode, string>> = {
  unauthorized: '',
  forbidden: '',
  not_found: 'Call list_work_items to see what there is.',
  conflict: 'Call get_work_item to see the work item as it is now, then call again with its rev.',
  rule: 'Correct the values and call again.',
  invalid: 'Correct the arguments and call again.',
  unavailable: '',
  unexpected: '',
}

/** Converts an error to a failed result if the caller should see it. Throws any other error again. */
export function toFailedResult(error: unknown): FailedResult {
  if (error instanceof ToolFailure) return failed(error.message)
  if (error instanceof AzureDevOpsError) return failed(`${error.message} ${advice[error.code]}`.trim())
  throw error
}

function failed(text: string): FailedResult {
  return { content: [{ type: 'text', text }], isError: true }
}
