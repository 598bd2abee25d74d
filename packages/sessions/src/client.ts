/**
 * The sessions extension of a client.
 *
 * @module @x/sessions/client
 */

export { type ClientSession, type ClientSessions, sessions, type ClientSessionsOptions } from './client/sessions.ts'
export type { SerializedSession } from './client/serialized-session.ts'
export { isSessionError, SessionError, type SessionErrorCode } from './session-error.ts'
export { isSessionNotFound } from './client/session-not-found.ts'
export type {
  CreateSessionRequest,
  CreateSessionResult,
  CreateSessionResultResponse,
  DeleteSessionRequest,
  DeleteSessionResultResponse,
  SessionNotFoundError,
} from './session-metadata.ts'
export {
  sessionHeader,
  sessionKey,
  type SessionMetadata,
  sessionMethods,
  sessionNotFoundCode,
} from './session-metadata.ts'
