/** Why a session could not be used; the closed table of {@link SessionError}. */
export type SessionErrorCode =
  /** The server has no such session any more. Nothing is sent for it from then on. */
  | 'not_found'
  /** It was deleted here. */
  | 'deleted'
  /** A kept session is another server's or another user's. */
  | 'foreign'
  /** What was to be taken up again is no kept session. */
  | 'malformed'
  /** Sessions cannot be kept, because nobody said whose or which server's they are. */
  | 'unidentified'
  /** The server answered with what no session can be, or with another session than was asked for. */
  | 'invalid_answer'

/** A session that cannot be used. A call of a client rejects with a `ClientError` that has it as its `cause`. */
export class SessionError extends Error {
  override readonly name = 'SessionError'
  readonly code: SessionErrorCode

  constructor(code: SessionErrorCode, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
  }
}

/** Whether a value is a {@link SessionError}, from this copy of the package or another. */
export function isSessionError(error: unknown): error is SessionError {
  return error instanceof Error && error.name === 'SessionError' && 'code' in error
}
