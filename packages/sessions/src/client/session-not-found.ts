import { isClientError } from '@x/client'
import { isSessionError } from '../session-error.ts'
import { sessionNotFoundCode } from '../session-metadata.ts'

/**
 * True if a call failed because the server does not know its session. Create another one, which begins with the initial
 * state.
 */
export function isSessionNotFound(error: unknown): boolean {
  if (isSessionError(error)) return error.code === 'not_found'
  if (!isClientError(error)) return false
  return error.rpc?.code === sessionNotFoundCode || isSessionNotFound(error.cause)
}
