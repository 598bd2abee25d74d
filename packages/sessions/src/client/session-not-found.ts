import { isClientError } from '@x/client'
import { isSessionError } from '../session-error.ts'
import { sessionNotFoundCode } from '../session-metadata.ts'

/**
 * Returns true if a call failed because the server does not know its session. The program then has to create another
 * session, which begins with the initial state.
 */
export function isSessionNotFound(error: unknown): boolean {
  if (isSessionError(error)) return error.code === 'not_found'
  if (!isClientError(error)) return false
  return error.rpc?.code === sessionNotFoundCode || isSessionNotFound(error.cause)
}
