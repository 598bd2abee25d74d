/** The codes of failed calls to Azure DevOps. */
export type AzureDevOpsErrorCode =
  /** The token is missing, expired or wrong. */
  | 'unauthorized'
  /** The token lacks the permission for this operation. */
  | 'forbidden'
  /** The resource does not exist, or the token lacks the permission to read it. */
  | 'not_found'
  /** Another user changed the work item. */
  | 'conflict'
  /** A rule of the process rejected field values; `violations` lists them. */
  | 'rule'
  /** Azure DevOps rejected the request as invalid. */
  | 'invalid'
  /** Azure DevOps is overloaded, down or unreachable. */
  | 'unavailable'
  /** The response has an unknown format or is too large. */
  | 'unexpected'

/** A field value that a rule of the process rejected. */
export interface FieldViolation {
  readonly field: string
  /** The message of Azure DevOps. */
  readonly message: string
}

/** The error of a failed call to Azure DevOps. The message states the remedy and never contains the token. */
export class AzureDevOpsError extends Error {
  override readonly name = 'AzureDevOpsError'
  readonly code: AzureDevOpsErrorCode
  readonly violations: readonly FieldViolation[]

  constructor(
    code: AzureDevOpsErrorCode,
    message: string,
    options: { violations?: readonly FieldViolation[]; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.violations = options.violations ?? []
  }
}
