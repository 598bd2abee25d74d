/** The reason of a {@link TaskError}: why a task has no result, or could not be followed. There are no other codes. */
export type TaskErrorCode =
  /** The task was cancelled, by a request or by the server. */
  | 'cancelled'
  /** The server does not know the task any more, or the task belongs to another user. */
  | 'expired'
  /**
   * The server was unreachable for `failureTimeoutMs`. The `cause` is the last error. The task may still be running.
   */
  | 'unreachable'
  /** The task had not ended within `maxTaskMs`. */
  | 'timeout'
  /** A serialized task belongs to another server or another user. */
  | 'foreign'
  /** The value to be resumed is not a serialized task. */
  | 'malformed'
  /** The task cannot be serialized or resumed, because its user or server was not given. */
  | 'unidentified'
  /** An answer has a key that is not open, or no answer was given. No answer was sent. */
  | 'not_asked'

/**
 * The error for a task without a result. A task that failed with a JSON-RPC error rejects instead with the
 * `ClientError` that its call would have rejected with.
 */
export class TaskError extends Error {
  override readonly name = 'TaskError'
  readonly code: TaskErrorCode
  /** The tool that the task runs. Undefined if the tool is not known. */
  readonly tool: string | undefined

  constructor(
    code: TaskErrorCode,
    message: string,
    { tool, cause }: { readonly tool?: string | undefined; readonly cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.tool = tool
  }
}

/** Returns true if a value is a {@link TaskError}, from this copy of the package or another. */
export function isTaskError(error: unknown): error is TaskError {
  return error instanceof Error && error.name === 'TaskError' && 'code' in error && 'tool' in error
}
