import { isJsonObject } from '@x/schema'
import { parseSessionMetadata, type SessionMetadata } from '../session-metadata.ts'
import { SessionError } from './session-error.ts'

/**
 * A session to be taken up again, by this process or another, as plain JSON. It is a secret, as what authenticates the user is: whoever
 * has both can use the session.
 */
export type KeptSession = {
  /** The server that it was made by: where the connection led. */
  readonly target: string
  /** The user that it was made for; null where the server knows none. */
  readonly user: string | null
  readonly session: SessionMetadata
}

/** Whose sessions a client has, and of which server. */
export interface SessionOwner {
  readonly target: string | undefined
  readonly user: string | null | undefined
}

/** Writes a session down for its owner (seed data-layer-sessions, creating sessions). Throws {@link SessionError} `unidentified`. */
export function keepSession(session: SessionMetadata, owner: SessionOwner): KeptSession {
  return { ...identified(owner), session }
}

/** The session that was kept, if it is this owner's. Takes what anybody may have altered; throws {@link SessionError}. */
export function takeUp(kept: unknown, owner: SessionOwner): SessionMetadata {
  const { target, user } = identified(owner)
  if (!isJsonObject(kept)) throw malformed('it must be an object, as session.keep() gives it')
  const session = parseSessionMetadata(kept.session)
  if ('issue' in session) throw malformed(`its session ${session.issue}`)
  if (kept.target !== target) throw new SessionError('foreign', `The kept session is not one of ${target}`)
  if (kept.user !== user) throw new SessionError('foreign', 'The kept session is not one of this user')
  return session
}

function identified({ target, user }: SessionOwner): { readonly target: string; readonly user: string | null } {
  if (target === undefined) {
    throw new SessionError(
      'unidentified',
      'This connection has no URL that says which server it leads to: give the client a `target`',
    )
  }
  if (user === undefined) {
    const message =
      'To keep sessions, say whose they are: give the client a `user`, or null where the server knows none'
    throw new SessionError('unidentified', message)
  }
  return { target, user }
}

function malformed(why: string): SessionError {
  return new SessionError('malformed', `This is no kept session: ${why}`)
}
