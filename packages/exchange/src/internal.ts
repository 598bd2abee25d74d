/**
 * For the other packages of this repository. May change in any release.
 *
 * @module @x/exchange/internal
 */

export {
  type CallingClient,
  callingClientKey,
  extendsResultKey,
  type HopObserver,
  hopObserverKey,
  type RecordedPart,
  recordedPartsKey,
  restoredPartsKey,
  principalIdentityOf,
  searchListKey,
} from './call/call-context.ts'
export { checkServer, describeForeignTarget, identifyingUrlOf } from './server/server.ts'
export { createEventSource, type EventSource, type Observer } from './composition/event-source.ts'
export { type Composition, composeServer, placeToolSearch } from './composition/compose.ts'
export { createReadyFunction, type Readiness, type ReadinessCheck } from './composition/readiness.ts'
export {
  invalidStateError,
  notSentReason,
  overloadedReason,
} from './errors/rejections.ts'
export { createMissingScopesError, logMissingScopes, neededScopesOf } from './errors/missing-scopes.ts'
export { quotaError, quotaReason } from './errors/quota.ts'
export { createSuspension, isSuspension } from './errors/suspension.ts'
export {
  conventions,
  extensionMethods,
  formatTraceparent,
  isCallerError,
  outcomeAttributesOf,
  type SpanIdentity,
  withTraceContext,
} from './telemetry/conventions.ts'
export { createKnownNames, type KnownNames, type NamedTarget, namedTargetOf } from './telemetry/known-names.ts'
export { ConnectionStateSource } from './server/connection-state.ts'
export {
  discoverProbe,
  findRevisionError,
  olderInitializeRequest,
  olderRevisionIn,
  olderServerMessage,
  readRequestMeta,
  supportsDiscover,
} from './transports/revision-detection.ts'
