/** Codes of {@link SessionError}: why a session cannot be used. */
export type SessionErrorCode =
  /**
   * The session is unknown, expired, deleted, revoked or altered, or belongs to another principal. The client sends no
   * more requests for it.
   */
  | 'not_found'
  /** This client deleted the session. */
  | 'deleted'
  /** A serialized session belongs to another server or user. */
  | 'foreign'
  /** A value to resume is not a serialized session. */
  | 'malformed'
  /** A session cannot be serialized or resumed without a `target` and a `user`. */
  | 'unidentified'
  /** The server answered with an invalid session, or with a session other than the requested one. */
  | 'invalid_answer'
  /** The program of a server uses sessions in a wrong way. The message is not meant for a peer. */
  | 'usage'

/** A session cannot be used. A call of a client rejects with a `ClientError` whose `cause` is this error. */
export class SessionError extends Error {
  override readonly name = 'SessionError'
  readonly code: SessionErrorCode
  /** Set if a server did not find this session. */
  readonly sessionId: string | undefined

  constructor(
    code: SessionErrorCode,
    message: string,
    options: { readonly cause?: unknown; readonly sessionId?: string } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.sessionId = options.sessionId
  }
}

/** True for a {@link SessionError}, also one of another copy of this package. */
export function isSessionError(error: unknown): error is SessionError {
  return error instanceof Error && error.name === 'SessionError' && 'code' in error
}
