/**
 * Connections over HTTP to servers of every revision.
 *
 * @module @x/legacy/http-client
 */

export type {
  DetectedRevisions,
  DualConnection,
  DualOptions,
  DualPeer,
  DualWarning,
  LegacyServerPeer,
} from './client/options.ts'
export { connectDualHttp, type DualHttpOptions, type HttpOptions } from './http-client/connect-dual-http.ts'
export { type LegacyRevision, legacyRevisions } from './revisions.ts'
