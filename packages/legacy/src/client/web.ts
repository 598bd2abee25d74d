/**
 * Connects to servers of every revision, over HTTP, on platforms without processes.
 *
 * @module @x/legacy/client
 */

export type { Clock, Log, LogRecord } from '@x/core'
export { connectAny } from './connect-web.ts'
export type {
  AnyConnection,
  ConnectAnyOptions,
  DetectedRevisions,
  HttpOptions,
  LegacyServerPeer,
  ServerPeer,
  StdioOptions,
} from './options.ts'
export type { ProcessExit, ProcessView } from '@x/exchange'
export type { AddressEntry, CommandEntry, ServerTarget } from './target.ts'
export { type LegacyRevision, legacyRevisions } from '../translate/revisions.ts'
