/** Codes of {@link StdioError}: why a call over stdio got no response, or what is wrong with a message. */
export type StdioErrorCode =
  /** The process could not be started. */
  | 'spawn'
  /** The process has started, but did not answer `server/discover` in time. */
  | 'probe'
  /**
   * The server implements only earlier revisions of the protocol. The message has its revision, if the server names
   * one.
   */
  | 'unsupported_version'
  /**
   * The process exited before the response. The server may have processed the request. The next call starts the process
   * again.
   */
  | 'exited'
  /**
   * The process exited before it answered anything, or too often in a row. This connection does not start it again; a
   * new one does, such as that of a gateway for its next call.
   */
  | 'restarts'
  /** The connection was closed on this side, or its streams ended. The server may have processed the request. */
  | 'closed'
  /** The server ended a subscription without a result. */
  | 'ended'
  /**
   * The response is longer than 16 MiB. If its id is at neither end of the line, the line is only logged, and the call
   * waits for its time limit.
   */
  | 'too_large'
  /** A message violates the rules of the transport. The message was skipped. */
  | 'protocol'

/** What a {@link StdioError} has beside its code and message. */
export interface StdioErrorDetails {
  /** Exit code of the process. Undefined if a signal ended it. */
  readonly exitCode?: number | undefined
  /** Signal that ended the process, such as `SIGKILL`. */
  readonly signal?: string | undefined
  /**
   * Last lines on stderr, at most 2,000 characters. Empty if stderr is inherited. Undefined in errors that report no
   * exit.
   */
  readonly stderr?: string | undefined
  /** False if the process ran no call that could have an effect. Default: as the code says. */
  readonly mayHaveRun?: boolean | undefined
  readonly cause?: unknown
}

/** Nothing was written to the process yet. */
const unsentCodes: ReadonlySet<StdioErrorCode> = new Set(['spawn', 'probe', 'unsupported_version', 'restarts'])

/** A call over stdio got no response. An error that the server sends is a response, and no `StdioError`. */
export class StdioError extends Error {
  override readonly name = 'StdioError'
  readonly code: StdioErrorCode
  readonly exitCode: number | undefined
  readonly signal: string | undefined
  readonly stderr: string | undefined
  /** False if the server surely did not run the call. */
  readonly mayHaveRun: boolean

  constructor(code: StdioErrorCode, message: string, details: StdioErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.exitCode = details.exitCode
    this.signal = details.signal
    this.stderr = details.stderr
    this.mayHaveRun = details.mayHaveRun ?? !unsentCodes.has(code)
  }
}

/** For a call that no failed connection has sent, such as one that comes after the failure. */
export function toUnsentError(error: unknown): unknown {
  if (!(error instanceof StdioError) || !error.mayHaveRun) return error
  const { code, message, exitCode, signal, stderr } = error
  const details = { exitCode, signal, stderr, mayHaveRun: false, cause: error }
  return new StdioError(code, `Nothing was sent: ${message}`, details)
}

const stdioErrorCodes: ReadonlySet<unknown> = new Set<StdioErrorCode>([
  ...(['spawn', 'probe', 'unsupported_version', 'exited', 'restarts'] as const),
  ...(['closed', 'ended', 'too_large', 'protocol'] as const),
])

/** True for a {@link StdioError}, also one of another copy of this package. */
export function isStdioError(error: unknown): error is StdioError {
  return error instanceof Error && error.name === 'StdioError' && 'code' in error && stdioErrorCodes.has(error.code)
}
