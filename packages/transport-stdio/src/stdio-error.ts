/** Why a call over stdio gave no answer, or what was wrong with what came; the closed table of {@link StdioError}. */
export type StdioErrorCode =
  /** The process could not be started. */
  | 'spawn'
  /** The process started, and is no server of this revision: it did not answer `server/discover` as one. */
  | 'probe'
  /** The process ended before the answer. The server may have acted; the next call starts it again. */
  | 'exited'
  /** The process ended too often in a row, and is not started again. */
  | 'restarts'
  /** The connection was closed here, or the streams ended. The server may have acted. */
  | 'closed'
  /** The server ended a subscription without a result. */
  | 'ended'
  /** The answer is longer than the bound of a line. */
  | 'too-large'
  /** What came is not what the transport defines; it was skipped. */
  | 'protocol'

/** What a {@link StdioError} tells beside its code and message. */
export interface StdioErrorDetails {
  /** The exit code of the process, where it ended with one. */
  readonly exitCode?: number | undefined
  /** The signal that ended the process, such as `SIGKILL`. */
  readonly signal?: string | undefined
  /** The last lines that the process wrote to stderr, where they are not inherited; at most 2,000 characters. */
  readonly stderr?: string | undefined
  readonly cause?: unknown
}

/** No answer could be had over stdio. It is local: errors of the peer arrive as a response. */
export class StdioError extends Error {
  override readonly name = 'StdioError'
  readonly code: StdioErrorCode
  readonly exitCode: number | undefined
  readonly signal: string | undefined
  readonly stderr: string | undefined

  constructor(code: StdioErrorCode, message: string, details: StdioErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.exitCode = details.exitCode
    this.signal = details.signal
    this.stderr = details.stderr
  }
}

const codes: ReadonlySet<unknown> = new Set<StdioErrorCode>([
  ...(['spawn', 'probe', 'exited', 'restarts'] as const),
  ...(['closed', 'ended', 'too-large', 'protocol'] as const),
])

/** Whether a value is a {@link StdioError}, from this copy of the package or another. */
export function isStdioError(error: unknown): error is StdioError {
  return error instanceof Error && error.name === 'StdioError' && 'code' in error && codes.has(error.code)
}
