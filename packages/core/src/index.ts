/**
 * What all packages of this implementation use: JSON values, time, waiting, cancellation, the log, and the bus that
 * carries changes between instances.
 *
 * @module @x/core
 */

export {
  type Change,
  type ChangeBus,
  type ChangeListener,
  BusError,
  type BusErrorCode,
  isBusError,
  busUnavailableError,
} from './bus/change-bus.ts'
export { decodeBase64, encodeBase64, encodeBase64url } from './base64.ts'
export { BoundedMap } from './bounded-map.ts'
export { callListener, isPromiseLike, requireSync, storeOfOwner } from './callback.ts'
export { checkArgument } from './check-argument.ts'
export { memoryBus, type MemoryBusOptions } from './bus/memory-bus.ts'
export {
  type Cancellable,
  Cancellation,
  isCancelled,
  offCancel,
  onCancel,
  withSignalOf,
} from './cancellation.ts'
export { checkedNumber, type NumberBounds } from './checked-number.ts'
export {
  cloneJson,
  copyJson,
  escapeNonAscii,
  findJsonProblem,
  isJson,
  isJsonArray,
  isJsonObject,
  isPlainObject,
  isReadonlyArray,
  type JsonArray,
  type JsonCopyRules,
  type JsonObject,
  type JsonProblem,
  type JsonRules,
  type JsonValue,
  parseJson,
  parseJsonObject,
  setOwnMember,
  sortMembers,
} from './json.ts'
export {
  createLedger,
  isLimitError,
  type Ledger,
  type LedgerBound,
  ledgerBounds,
  type LedgerKind,
  ledgerLimitTable,
  type LedgerLimits,
  LimitError,
} from './ledger.ts'
export {
  createLog,
  PartLog,
  errorRecord,
  keepProcessWithoutStderr,
  type Log,
  type LogContext,
  type LogLevel,
  type LogRecord,
} from './log.ts'
export type { JsonLeaf, MemberPath, MustBeJson, NotJson, NotJsonItem, NotJsonObject } from './must-be-json.ts'
export { importPeerDependency, isMissingModuleError } from './import-peer-dependency.ts'
export { createRandomPool, randomId } from './random-id.ts'
export { findClosestName, findMisplacedMembers, findMisspeltMembers } from './closest-name.ts'
export {
  findOptionsProblem,
  objectWith,
  type OptionPrimitive,
  type OptionRules,
  type OptionTable,
  type OptionType,
  optionTypes,
  type ResolvedOptions,
  resolveOptions,
} from './resolve-options.ts'
export {
  captureAsyncContext,
  type Clock,
  encodeHex,
  type EpochMs,
  findPageOrigin,
  isWorkerd,
  type MonotonicMs,
  platformRuntime,
  type Runtime,
  runtimeOf,
  sha256Hex,
  sha256HexSync,
  unref,
} from './runtime.ts'
export { escapeCharacter, formatCount, pageTextOf, quoteText, toPrintableLine } from './quote-text.ts'
export { formatDuration, formatRetryAfter } from './duration.ts'
export { isSecureUrl, isThisMachine } from './this-machine.ts'
export { codeOf, messageOf } from './thrown.ts'
export {
  availableCode,
  createFailureReporter,
  createOutageLog,
  limitOutages,
  type FailureReporter,
  type OutageLog,
  type ServiceLog,
  unavailableCode,
} from './outage-log.ts'
export { isUnavailable, unavailableErrorIn } from './unavailable.ts'
export { retryUnavailable } from './retry-unavailable.ts'
export {
  type AbortScope,
  type TimeLimit,
  type TimeoutOptions,
  type BackoffBounds,
  computeBackoffMs,
  maxTimerMs,
  openAbortScope,
  raceWithCancellation,
  type Schedule,
  settlesWithin,
  sleep,
  type SleepOptions,
  startBackgroundTimer,
  startTimeLimit,
  withTimeout,
} from './waiting.ts'
export { stringifyWellFormed } from './well-formed-json.ts'
