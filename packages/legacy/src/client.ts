/**
 * Connects to servers of every revision, over HTTP and to processes.
 *
 * @module @x/legacy/client
 */

export { connectAny } from './client/connect-node.ts'
export type {
  AnyConnection,
  ConnectAnyOptions,
  DetectedRevisions,
  HttpOptions,
  LegacyServerPeer,
  ProcessStreams,
  ServerPeer,
  StdioOptions,
  WrapStreams,
} from './client/options.ts'
export type { ProcessExit, ProcessView } from '@x/exchange'
export type { AddressEntry, CommandEntry, ServerTarget } from './client/target.ts'
export { type LegacyRevision, legacyRevisions } from './translate/revisions.ts'
