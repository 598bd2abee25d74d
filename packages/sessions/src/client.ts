/**
 * Adds sessions to a client.
 *
 * @module @x/sessions/client
 */

export {
  type ClientSession,
  type SessionsClient,
  sessionsClient,
  type SessionsClientOptions,
} from './client/sessions-client.ts'
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
