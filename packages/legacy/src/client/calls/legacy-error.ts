import type { RpcError } from '@x/schema'

type LegacyErrorCode =
  /** Nothing has run, because the server no longer knows the session. */
  | 'session_ended'
  /** The response to the probe leaves the server's revision unclear. It becomes the response to the call. */
  | 'undecided'
  /** Negotiating with the server's process has failed, so the process ends. */
  | 'refused'
  /** The connection was closed before its first request. */
  | 'closed'

/** A connection to a server of an earlier revision has failed. */
export class LegacyError extends Error {
  override readonly name = 'LegacyError'
  readonly code: LegacyErrorCode
  /** Each code is about a call that has not run. */
  readonly mayHaveRun = false
  /** The server's answer, if it was an error. */
  readonly response: RpcError | undefined

  constructor(code: LegacyErrorCode, message: string, response?: RpcError) {
    super(message)
    this.code = code
    this.response = response
  }
}

/** True for a {@link LegacyError} with this code. */
export function isLegacyError(error: unknown, code: LegacyErrorCode): error is LegacyError {
  return error instanceof LegacyError && error.code === code
}
