/** Why a task has no result, or could not be followed. There are no other codes. */
export type TaskErrorCode =
  /** Cancelled, by a request or by the server. */
  | 'cancelled'
  /** Unknown to the server by now, or another user's. */
  | 'expired'
  /** The server was unreachable for `failureTimeoutMs`; `cause` is the last error. The task may still be running. */
  | 'unreachable'
  /** Not ended within `maxTaskMs`. */
  | 'timeout'
  /** A serialized task of another server or another user. */
  | 'foreign'
  /** What was to be resumed is not a serialized task. */
  | 'malformed'
  /** Without its user or server, a task cannot be serialized or resumed. */
  | 'unidentified'
  /** An answer has a key that is not open, or there was no answer. None was sent. */
  | 'not_asked'

/**
 * A task without a result. If the task failed with a JSON-RPC error, you get the `ClientError` that its call would have
 * rejected with instead.
 */
export class TaskError extends Error {
  override readonly name = 'TaskError'
  readonly code: TaskErrorCode
  /** Name of the tool that the task runs. Undefined if it is not known. */
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

/** True for a {@link TaskError}, also one of another copy of this package. */
export function isTaskError(error: unknown): error is TaskError {
  return error instanceof Error && error.name === 'TaskError' && 'code' in error && 'tool' in error
}
