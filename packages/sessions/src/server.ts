export { defineSessions, type Sessions } from './server/define-sessions.ts'
export { withSessions } from './server/with-sessions.ts'
export { sessionResources, type SessionResources, type SessionResourcesOptions } from './server/session-resources.ts'
export { SessionUsageError } from './server/session-usage-error.ts'
export type { Session } from './server/session.ts'
export type { SessionHooks, SessionRules } from './server/session-rules.ts'
export type { Ledger } from './server/ledger.ts'
export type {
  Awaitable,
  DeletedSession,
  NewSession,
  SessionEvents,
  SessionFailure,
  SessionOptions,
  SessionState,
} from './server/session-options.ts'
export {
  sessionHeader,
  sessionKey,
  type SessionMetadata,
  sessionMethods,
  sessionNotFound,
} from './session-metadata.ts'
