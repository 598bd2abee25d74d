import type { SessionMetadata } from '../session-metadata.ts'
import { SessionError } from './session-error.ts'

/** The client's record of a session. */
export interface SessionRecord {
  readonly id: string
  /** The sealed state of the server's last answer. */
  state: string | undefined
  /** The end of the session in ISO 8601. */
  expiresAt: string | undefined
  /** The reason why it has ended, and nothing more is sent for it. */
  endReason: 'deleted' | 'not_found' | undefined
}

/** Makes the record of a session. */
export function createRecord({ sessionId, state, expiresAt }: SessionMetadata): SessionRecord {
  return { id: sessionId, state, expiresAt, endReason: undefined }
}

/** Returns the metadata that a request of the session has. */
export function toSessionMetadata({ id, state }: SessionRecord): SessionMetadata {
  return { sessionId: id, ...(state !== undefined && { state }) }
}

/** Updates the record by an answer, the last of which wins. Returns true when the state has changed. */
export function updateRecord(record: SessionRecord, { sessionId, state, expiresAt }: SessionMetadata): boolean {
  if (sessionId !== record.id) {
    throw new SessionError('invalid_answer', 'The server answered with another session than the one that was asked for')
  }
  record.expiresAt = expiresAt ?? record.expiresAt
  if (state === undefined || state === record.state) return false
  record.state = state
  return true
}

/** Throws for a session that has ended. */
export function rejectEndedSession({ endReason }: SessionRecord): void {
  if (endReason === undefined) return
  const endDescription = endReason === 'deleted' ? 'was deleted here' : 'is not known to the server any more'
  throw new SessionError(endReason, `The session ${endDescription}: create another one with create()`)
}
