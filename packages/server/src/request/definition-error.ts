/** The problems of a definition. */
export type DefinitionProblem =
  /** A name, URI or identifier is not of the form that the protocol allows. */
  | 'name'
  /** Two definitions of one kind have the same name. */
  | 'duplicate'
  /** A schema cannot be used: no JSON Schema, a network `$ref`, an unknown dialect, a root of the wrong type. */
  | 'schema'
  /** An `x-mcp-header` annotation breaks a rule of server/tools, x-mcp-header. */
  | 'header'
  /** A URI template cannot be matched. */
  | 'template'
  /** A completion is given for something that the definition does not have. */
  | 'completion'
  /** Caching hints that no client may act on, or that would show one caller's list to another. */
  | 'cache'
  /** A value is missing, or is not what its field holds. */
  | 'value'

/**
 * A server's definition that cannot be served. Thrown by `createServer` and `update` before any request is answered.
 * The message names what was defined, and says what would be right.
 */
export class DefinitionError extends Error {
  override readonly name = 'DefinitionError'
  readonly code: DefinitionProblem
  /** The definition with the problem, such as `tool "greet"`. */
  readonly subject: string

  constructor(code: DefinitionProblem, subject: string, options: { reason: string; cause?: unknown }) {
    super(`${subject}: ${options.reason}`, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.subject = subject
  }
}
