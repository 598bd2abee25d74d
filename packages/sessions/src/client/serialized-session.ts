import { describeForeignTarget } from '@x/exchange/internal'
import { isJsonObject } from '@x/schema'
import { parseSessionMetadata, type SessionMetadata } from '../session-metadata.ts'
import { SessionError } from '../session-error.ts'

/**
 * A session as plain JSON, which this process or another can resume. Keep it as secret as the user's credentials: a
 * program that has both can use the session.
 */
export type SerializedSession = {
  /** Server that created the session. */
  readonly target: string
  /** User for whom the session was created. Null if the server does not authenticate. */
  readonly user: string | null
  readonly session: SessionMetadata
}

/** Whose sessions these are: a user's, at a server. */
export type SessionOwner = { readonly [Name in 'target' | 'user']: SerializedSession[Name] | undefined }

/**
 * Serializes a session for its owner (seed data-layer-sessions, creating sessions). Throws {@link SessionError}
 * `unidentified` if the target or the user is unknown.
 */
export function serializeSession(session: SessionMetadata, owner: SessionOwner): SerializedSession {
  return { ...requireOwnerIdentity(owner), session }
}

/** A serialized session may have been altered. Throws {@link SessionError} if it is malformed or has another owner. */
export function deserializeSession(serializedSession: unknown, owner: SessionOwner): SessionMetadata {
  const { target, user } = requireOwnerIdentity(owner)
  if (!isJsonObject(serializedSession))
    throw createMalformedSessionError('it must be an object, as session.serialize() returns it')
  const session = parseSessionMetadata(serializedSession.session)
  if ('issue' in session) throw createMalformedSessionError(`its session ${session.issue}`)
  if (serializedSession.target !== target)
    throw new SessionError('foreign', describeForeignTarget('session', serializedSession.target, target))
  if (serializedSession.user !== user)
    throw new SessionError('foreign', 'The serialized session is not one of this user')
  return session
}

function requireOwnerIdentity({ target, user }: SessionOwner): Pick<SerializedSession, 'target' | 'user'> {
  if (target === undefined) {
    const message = 'The connection has no URL that identifies the server: give sessionsClient() a `target`'
    throw new SessionError('unidentified', message)
  }
  if (user === undefined) {
    const message =
      'A serialized session names its user: give sessionsClient() a `user`, or null where the server authenticates nobody'
    throw new SessionError('unidentified', message)
  }
  return { target, user }
}

function createMalformedSessionError(reason: string): SessionError {
  return new SessionError('malformed', `Not a serialized session: ${reason}`)
}
