/** Why a task came to no result, or could not be followed; the closed table of {@link TaskFailure}. */
export type TaskFailureCode =
  /** The server cancelled it, because it was asked to or by itself. */
  | 'cancelled'
  /** The server does not know it any more, or it is not this user's. */
  | 'expired'
  /** Nothing could be had from the server for too long: the cause is the last error. The task may go on. */
  | 'unreachable'
  /** It had not ended when the time for it was over. */
  | 'timeout'
  /** A kept task is another server's or another user's. */
  | 'foreign'
  /** What was to be taken up again is no kept task. */
  | 'malformed'
  /** Tasks cannot be kept, because nobody said whose or which server's they are. */
  | 'unidentified'
  /** An answer is to something that the task does not ask now, so nothing was sent. */
  | 'not_asked'

/**
 * A task without a result. One that failed by an error of the protocol rejects with the `ClientError` that its call would have
 * rejected with.
 */
export class TaskFailure extends Error {
  override readonly name = 'TaskFailure'
  readonly code: TaskFailureCode
  /** The tool that the task runs; undefined where no task was found. */
  readonly tool: string | undefined

  constructor(
    code: TaskFailureCode,
    message: string,
    { tool, cause }: { readonly tool?: string | undefined; readonly cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.tool = tool
  }
}

/** Whether a value is a {@link TaskFailure}, from this copy of the package or another. */
export function isTaskFailure(error: unknown): error is TaskFailure {
  return error instanceof Error && error.name === 'TaskFailure' && 'code' in error && 'tool' in error
}
