import type { SessionMetadata } from '../session-metadata.ts'
import { SessionError } from './session-error.ts'

/** A session as the client has it. */
export interface SessionRecord {
  readonly id: string
  /** As the server last wrote it, for nobody here to read. */
  state: string | undefined
  /** ISO 8601. */
  expiresAt: string | undefined
  /** Why nothing is sent for it any more. */
  end: 'deleted' | 'not_found' | undefined
}

/** What is known of a session at its beginning. */
export function recordOf({ sessionId, state, expiresAt }: SessionMetadata): SessionRecord {
  return { id: sessionId, state, expiresAt, end: undefined }
}

/** What a request of the session says of it. */
export function metadataOf({ id, state }: SessionRecord): SessionMetadata {
  return { sessionId: id, ...(state !== undefined && { state }) }
}

/** Takes what an answer says of the session: the last one wins. Tells whether the state is another one now. */
export function update(record: SessionRecord, { sessionId, state, expiresAt }: SessionMetadata): boolean {
  if (sessionId !== record.id) {
    throw new SessionError('invalid_answer', 'The server answered with another session than the one that was asked for')
  }
  record.expiresAt = expiresAt ?? record.expiresAt
  if (state === undefined || state === record.state) return false
  record.state = state
  return true
}

/** Throws for a session that is over. */
export function refuseEnded({ end }: SessionRecord): void {
  if (end === undefined) return
  const why = end === 'deleted' ? 'was deleted here' : 'is not known to the server any more'
  throw new SessionError(end, `The session ${why}: create another one with sessions.create()`)
}
