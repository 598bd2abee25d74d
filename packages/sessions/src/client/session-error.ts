import { isClientError } from '@x/client'
import { sessionNotFoundCode } from '../session-metadata.ts'

/** The reasons why a session cannot be used. The closed table of {@link SessionError}. */
export type SessionErrorCode =
  /** The server has no such session any more. Nothing is sent for it from then on. */
  | 'not_found'
  /** It was deleted here. */
  | 'deleted'
  /** A serialized session is one of another server or user. */
  | 'foreign'
  /** A value to resume is not a serialized session. */
  | 'malformed'
  /** A session cannot be serialized or resumed without a `target` and a `user`. */
  | 'unidentified'
  /** The server answered with an invalid session, or with another one than was asked for. */
  | 'invalid_answer'

/**
 * The error of a session that cannot be used. A call of a client rejects with a `ClientError` that has it as its
 * `cause`.
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
 * Returns true if a call failed because the server does not know its session. The client then creates another session,
 * whose state begins anew.
 */
export function isSessionNotFound(error: unknown): boolean {
  if (isSessionError(error)) return error.code === 'not_found'
  if (!isClientError(error)) return false
  return error.rpc?.code === sessionNotFoundCode || isSessionNotFound(error.cause)
}
