/** The reason why a task has no result, or could not be followed. The closed table of {@link TaskError}. */
export type TaskErrorCode =
  /** The task was cancelled, by a request or by the server. */
  | 'cancelled'
  /** The server does not know the task any more, or it is another user's. */
  | 'expired'
  /** The server was unreachable for too long: the cause is the last error. The task may continue. */
  | 'unreachable'
  /** The task had not ended within `maxTaskMs`. */
  | 'timeout'
  /** A serialized task is another server's or another user's. */
  | 'foreign'
  /** The value to be resumed is not a serialized task. */
  | 'malformed'
  /** Tasks cannot be serialized, because their user or server was not given. */
  | 'unidentified'
  /** An answer has a key that the task does not ask now, so nothing was sent. */
  | 'not_asked'

/**
 * A task without a result. One that failed by an error of the protocol rejects with the `ClientError` that its call
 * would have rejected with.
 */
export class TaskError extends Error {
  override readonly name = 'TaskError'
  readonly code: TaskErrorCode
  /** The tool that the task runs. Undefined where no task was found. */
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
