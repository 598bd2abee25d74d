/** What can be wrong with a definition. */
export type DefinitionErrorCode =
  /** A name, URI or identifier is not of the form that the protocol allows. */
  | 'name'
  /** Two definitions of one kind have the same name. */
  | 'duplicate'
  /**
   * A schema cannot be used: it is not JSON Schema, has a network `$ref`, an unknown dialect, or a root of the wrong
   * type.
   */
  | 'schema'
  /** An `x-mcp-header` annotation breaks a rule of server/tools, x-mcp-header. */
  | 'header'
  /** A URI template cannot be used to match URIs. */
  | 'template'
  /** A completer is given for an argument or a variable that the definition does not have. */
  | 'completion'
  /** Caching hints are invalid, or would let a shared cache show one caller's result to another caller. */
  | 'cache'
  /** A field's value is missing or not allowed. */
  | 'value'

/**
 * A server cannot use a definition. `createServer` and `update` throw it before any request uses the definition. The
 * message names the definition and says how to correct it.
 */
export class DefinitionError extends Error {
  override readonly name = 'DefinitionError'
  readonly code: DefinitionErrorCode
  /** The definition with the problem, such as `tool "greet"`. */
  readonly subject: string

  constructor(code: DefinitionErrorCode, subject: string, options: { reason: string; cause?: unknown }) {
    super(`${subject}: ${options.reason}`, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.subject = subject
  }
}

/** True for a {@link DefinitionError}, also one of another copy of this package. */
export function isDefinitionError(error: unknown): error is DefinitionError {
  return error instanceof Error && error.name === 'DefinitionError' && 'code' in error && 'subject' in error
}
