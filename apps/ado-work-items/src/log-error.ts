import { isTokenError } from '@x/auth/server'
import { createLog, errorRecord } from '@x/core'
import { isStateError } from '@x/state-codec'

/** Writes an error to the standard error, in one line: part of it may be a peer's text, which must not steer a terminal. */
export function logError(topic: string, error: unknown): void {
  // The reason why a token or a session is rejected is for the operator alone, and its stack says nothing more.
  const reason = isTokenError(error) ? error.message : isStateError(error) ? error.detail : undefined
  const log = createLog(undefined, topic)
  log(reason === undefined ? errorRecord(error) : { level: 'error', message: reason })
}
