import type { SessionMetadata } from '../session-metadata.ts'
import { SessionError } from '../session-error.ts'

/** The client's record of a session. */
export interface SessionRecord {
  readonly id: string
  /** The sealed state in the last response of the server. */
  state: string | undefined
  /** The end of the session in ISO 8601. */
  expiresAt: string | undefined
  /** The reason for which the session has ended. No more requests are sent for an ended session. */
  endReason: 'deleted' | 'not_found' | undefined
}

/** Makes the record of a session. */
export function createSessionRecord({ sessionId, state, expiresAt }: SessionMetadata): SessionRecord {
  return { id: sessionId, state, expiresAt, endReason: undefined }
}

/** Returns the metadata for a request of the session. */
export function toSessionMetadata({ id, state }: SessionRecord): SessionMetadata {
  return { sessionId: id, ...(state !== undefined && { state }) }
}

/**
 * Updates the record by a response. If responses overlap, the one that arrives last counts. Returns true if the state
 * has changed.
 */
export function updateRecord(record: SessionRecord, { sessionId, state, expiresAt }: SessionMetadata): boolean {
  if (sessionId !== record.id) {
    throw new SessionError('invalid_answer', 'The server answered with another session than the one that was asked for')
  }
  record.expiresAt = expiresAt ?? record.expiresAt
  if (state === undefined || state === record.state) return false
  record.state = state
  return true
}

/** Throws if a session has ended. */
export function rejectEndedSession({ endReason }: SessionRecord): void {
  if (endReason === undefined) return
  const endDescription = endReason === 'deleted' ? 'was deleted here' : 'is not known to the server any more'
  throw new SessionError(endReason, `The session ${endDescription}: create another one with create()`)
}
