/**
 * Adds sessions to a server.
 *
 * @module @x/sessions/server
 */

export type { Log, LogRecord, Runtime } from '@x/core'
export {
  sessions,
  type Sessions,
  type SessionsApi,
  type StatefulSessionsOptions,
  type StatelessSessionsOptions,
} from './server/sessions.ts'
export {
  type ResourceSession,
  sessionResources,
  type SessionResources,
  type SessionResourcesOptions,
} from './server/session-resources.ts'
export { isSessionError, SessionError, type SessionErrorCode } from './session-error.ts'
export type { CallView } from './server/opened-session.ts'
export type { Session, SessionView } from './server/session.ts'
export type {
  Awaitable,
  DeletedSession,
  NewSession,
  SessionEvents,
  SessionOptions,
  SessionState,
} from './server/session-options.ts'
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
