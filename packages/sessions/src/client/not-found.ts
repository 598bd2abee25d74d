import { isClientError } from '@x/client'
import { sessionNotFound } from '../session-metadata.ts'
import { isSessionError } from './session-error.ts'

/**
 * Whether a call failed because its session is over, as the server has said, now or at an earlier call: create another session, and
 * begin the conversation's state anew.
 */
export function isSessionNotFound(error: unknown): boolean {
  if (isSessionError(error)) return error.code === 'not_found'
  if (!isClientError(error)) return false
  return error.rpc?.code === sessionNotFound || isSessionNotFound(error.cause)
}
