/**
 * The error codes of {@link StdioError}: the reasons why a call over stdio got no response, or what was invalid in a
 * message.
 */
export type StdioErrorCode =
  /** The process could not be started. */
  | 'spawn'
  /** The process started, and did not answer `server/discover` in time. */
  | 'probe'
  /**
   * The server speaks earlier revisions of the protocol alone. The message names its revision, where the server does.
   */
  | 'unsupported_version'
  /** The process exited before the response. The server may have acted. The next call starts it again. */
  | 'exited'
  /** The process exited too often in a row, and is not started again. */
  | 'restarts'
  /** The connection was closed on this side, or the streams ended. The server may have acted. */
  | 'closed'
  /** The server ended a subscription without a result. */
  | 'ended'
  /** The response is longer than the limit of a line. */
  | 'too_large'
  /** A message violates the transport's rules. It was skipped. */
  | 'protocol'

/** The details of a {@link StdioError} beside its code and message. */
export interface StdioErrorDetails {
  /** The exit code of the process, where it has one. */
  readonly exitCode?: number | undefined
  /** The signal that ended the process, such as `SIGKILL`. */
  readonly signal?: string | undefined
  /** The last lines that the process wrote to stderr, where they are not inherited. At most 2,000 characters. */
  readonly stderr?: string | undefined
  readonly cause?: unknown
}

/** A call got no response over stdio. The error is local: errors of the peer arrive as a response. */
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

const stdioErrorCodes: ReadonlySet<unknown> = new Set<StdioErrorCode>([
  ...(['spawn', 'probe', 'unsupported_version', 'exited', 'restarts'] as const),
  ...(['closed', 'ended', 'too_large', 'protocol'] as const),
])

/** Returns true if a value is a {@link StdioError}, from this copy of the package or another. */
export function isStdioError(error: unknown): error is StdioError {
  return error instanceof Error && error.name === 'StdioError' && 'code' in error && stdioErrorCodes.has(error.code)
}
