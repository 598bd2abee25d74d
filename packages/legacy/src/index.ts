/**
 * Lets a server serve clients of older revisions too.
 *
 * @module @x/legacy
 */

export { type LegacyApi, legacy } from './server/legacy.ts'
export { type LegacyPeer, legacyPeerOf } from './server/call/legacy-call.ts'
export { type LegacyRevision, legacyRevisions } from './translate/revisions.ts'
export type { LegacyOptions, LegacyWarningCode, StateQuestion } from './server/session/options.ts'
