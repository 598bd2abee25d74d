import { isClientError } from '@x/client'
import { sessionNotFoundCode } from '../session-metadata.ts'

/** The reasons why a session cannot be used. A {@link SessionError} has one of them as its code. */
export type SessionErrorCode =
  /** The server no longer knows the session. The client sends no more requests for it. */
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

/**
 * The error of a session that cannot be used. A call of a client rejects with a `ClientError` whose `cause` is this
 * error.
 */
export class SessionError extends Error {
  override readonly name = 'SessionError'
  readonly code: SessionErrorCode

  constructor(code: SessionErrorCode, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
  }
}

/** Returns true if a value is a {@link SessionError}, from this copy of the package or another. */
export function isSessionError(error: unknown): error is SessionError {
  return error instanceof Error && error.name === 'SessionError' && 'code' in error
}

/**
 * Returns true if a call failed because the server does not know its session. The program then has to create another
 * session, which begins with the initial state.
 */
export function isSessionNotFound(error: unknown): boolean {
  if (isSessionError(error)) return error.code === 'not_found'
  if (!isClientError(error)) return false
  return error.rpc?.code === sessionNotFoundCode || isSessionNotFound(error.cause)
}
