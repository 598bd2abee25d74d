/** The failures of a call to Azure DevOps, from the caller's point of view. */
export type AzureDevOpsErrorCode =
  /** The token is missing, expired or wrong. */
  | 'unauthorized'
  /** The token may not do this. */
  | 'forbidden'
  /** No such thing, or the token may not see it. */
  | 'not_found'
  /** Another user changed the work item. */
  | 'conflict'
  /** A rule of the process refused field values; `violations` lists them. */
  | 'rule'
  /** The request itself was refused. */
  | 'invalid'
  /** Overloaded, down or out of reach. */
  | 'unavailable'
  /** An answer that this client does not understand. */
  | 'unexpected'

/** A field value that a rule of the process refused. */
export interface FieldViolation {
  readonly field: string
  /** The service's words for it. */
  readonly message: string
}

/** A call to Azure DevOps failed; the message says what to do about it and never holds the token. */
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
