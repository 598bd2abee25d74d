import { isTokenError } from '@x/auth/server'
import { createLog, errorRecord } from '@x/core'
import { isStateError } from '@x/state-codec'

/** Logs an error in one line. Part of it may be text of a peer, so control characters are escaped. */
export function logError(topic: string, error: unknown): void {
  // The reason for a rejected token or session is for the operator only. Its stack adds nothing.
  const reason = isTokenError(error) ? error.message : isStateError(error) ? error.detail : undefined
  const log = createLog(undefined, topic)
  log(reason === undefined ? errorRecord(error) : { level: 'error', message: reason })
}
