/**
 * The parts of this package that only the other packages of this repository use. They may change in any release.
 *
 * @module @x/schema/internal
 */

export { isCallerError } from './basic/mcp-error.ts'
export { loggingLevels, severityOf } from './basic/meta.ts'
export { conventions } from './basic/conventions.ts'
export { discoverProbe, findRevisionError, olderInitializeRequest, olderRevisionIn } from './basic/revision.ts'
export { olderServerMessage, supportsDiscover } from './basic/revision.ts'
export {
  type CallingClient,
  callingClientKey,
  extendsResultKey,
  type RecordedPart,
  recordedPartsKey,
  restoredPartsKey,
  principalIdentityOf,
} from './composition/call-context.ts'
export { createEventSource, type EventSource, type Observer } from './composition/event-source.ts'
export {
  type Composition,
  composeServer,
} from './composition/compose.ts'
export type { ServerPart } from './composition/part-readiness.ts'
export { overloadedReason } from './composition/rejections.ts'
export { quotaError, quotaReason } from './composition/quota.ts'
export { formatTraceparent } from './basic/trace-context.ts'
export { encodePieces, type MessagePieces } from './messages/encode-message.ts'
export { parseBatch } from './messages/parse-message.ts'
