/**
 * Connections over stdio to servers of every revision.
 *
 * @module @x/legacy/stdio-client
 */

export type {
  DetectedRevisions,
  DualConnection,
  DualOptions,
  DualPeer,
  DualWarning,
  LegacyServerPeer,
} from './client/options.ts'
export { connectDualStdio, type DualStdioConnection } from './stdio-client/connect-dual-stdio.ts'
export type { DualStdioOptions } from './stdio-client/options.ts'
export { type LegacyRevision, legacyRevisions } from './revisions.ts'
