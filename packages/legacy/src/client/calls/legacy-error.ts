import type { RpcError } from '@x/schema'

/**
 * The reasons why a server of an earlier revision cannot be used. A {@link LegacyError} has one of them as its code.
 */
type LegacyErrorCode =
  /** The server has not run the request, because it does not know the session any more. */
  | 'session_ended'
  /** The response to the probe does not show the revision of the server. It becomes the response to the call. */
  | 'undecided'
  /** The negotiation with the process of the server has failed, so the process ends. */
  | 'refused'

/** The failure of a connection to a server of an earlier revision. */
export class LegacyError extends Error {
  override readonly name = 'LegacyError'
  readonly code: LegacyErrorCode
  /** The error of the server, if its response has one. */
  readonly response: RpcError | undefined

  constructor(code: LegacyErrorCode, message: string, response?: RpcError) {
    super(message)
    this.code = code
    this.response = response
  }
}

/** Returns true if a value is a {@link LegacyError} with the given code. */
export function isLegacyError(error: unknown, code: LegacyErrorCode): error is LegacyError {
  return error instanceof LegacyError && error.code === code
}
