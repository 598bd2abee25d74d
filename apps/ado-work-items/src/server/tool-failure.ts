import { AzureDevOpsError, type AzureDevOpsErrorCode } from '../azure-devops/azure-devops-error.ts'

/** A tool has failed. The message states what the model can do about it. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure'
  /** The reason alone, for a response about several work items. */
  readonly reason: string

  constructor(message: string, reason: string = message) {
    super(message)
    this.reason = reason
  }
}

/** Describes the reason why a work item could not be changed; undefined for an error with private details. */
export function reasonOf(error: unknown): string | undefined {
  if (error instanceof ToolFailure) return error.reason
  if (!(error instanceof AzureDevOpsError)) return undefined
  // An error that was given the name of its work item has the service's own words behind it.
  return error.cause instanceof AzureDevOpsError ? error.cause.message : error.message
}

/** The result of a tool that failed: the model reads it and can try again. */
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

/** The failed result for an error that the caller should know about; any other error is thrown again. */
export function toFailedResult(error: unknown): FailedResult {
  if (error instanceof ToolFailure) return failed(error.message)
  if (error instanceof AzureDevOpsError) return failed(`${error.message} ${advice[error.code]}`.trim())
  throw error
}

function failed(text: string): FailedResult {
  return { content: [{ type: 'text', text }], isError: true }
}
