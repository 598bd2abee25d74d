import { isClientError } from '@x/client'
import { sessionNotFoundCode } from '../session-metadata.ts'
import { isSessionError } from './session-error.ts'

/**
 * Returns whether a call failed because the server does not know its session, as it answered to this call or an earlier
 * one: create another session, and begin the conversation's state anew.
 */
export function isSessionNotFound(error: unknown): boolean {
  if (isSessionError(error)) return error.code === 'not_found'
  if (!isClientError(error)) return false
  return error.rpc?.code === sessionNotFoundCode || isSessionNotFound(error.cause)
}
