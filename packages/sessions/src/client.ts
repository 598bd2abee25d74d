export {
  type ClientSession,
  type ClientSessions,
  createSessionsClient,
  type SessionsClient,
  type SessionsClientOptions,
} from './client/create-sessions-client.ts'
export type { KeptSession } from './client/kept-session.ts'
export { isSessionNotFound } from './client/not-found.ts'
export { isSessionError, SessionError, type SessionErrorCode } from './client/session-error.ts'
export {
  sessionHeader,
  sessionKey,
  type SessionMetadata,
  sessionMethods,
  sessionNotFound,
} from './session-metadata.ts'
