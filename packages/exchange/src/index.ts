/**
 * How the packages fit together: for programs that write an extension, a transport or an engine.
 *
 * @module @x/exchange
 */

export { isLimitError, type Ledger, type LedgerKind, LimitError } from '@x/core'
export type { ChangeBus, Clock, Log, LogContext, LogRecord, Runtime } from '@x/core'
export { type CallContext, type ContextKey, contextKey } from './call/exchange.ts'
export type {
  BackgroundRunner,
  Call,
  CallHeaders,
  Exchange,
  JournalEntry,
  JournalStore,
  Middleware,
  Principal,
} from './call/exchange.ts'
export {
  callerKeyOf,
  backgroundKey,
  backPressureKey,
  callHeadersKey,
  type CallInit,
  canHandOffKey,
  clientAddressKey,
  clientSessionKey,
  createCall,
  headerParamsKey,
  journalKey,
  type OlderRequest,
  olderRequestKey,
  type Platform,
  platformKey,
  type TaskAttempt,
  taskAttemptKey,
  transportKey,
  withContext,
  withHeader,
  withNotify,
} from './call/call-context.ts'
export {
  type AsyncResource,
  type ClientTarget,
  type CloseOptions,
  type Connection,
  type ConnectionPeer,
  type ConnectionView,
  createAttachHost,
  type DrainOptions,
  type ListKind,
  type Server,
  type ServerLoad,
  type Undrain,
} from './server/server.ts'
export type { ConnectionState, ConnectionStatus, ObservableState } from './server/connection-state.ts'
export type {
  ExtensionHost,
  ExtensionInstance,
  ExtensionMethod,
  ExtensionResourcePage,
  ExtensionResources,
  ToolView,
  HostStateCodec,
  LiteralName,
  OfferedTarget,
  ServerApis,
  ServerExtension,
  ServerTypes,
  ToolTypes,
  TypeCarrier,
  TypesOf,
} from './server/server-extension.ts'
export type { CallSubject, RunEndKind, ServerEvent, ServerEvents } from './server/server-event.ts'
export type { SearchedServer, ToolSearch, ToolSearchLayers } from './server/tool-search.ts'
export { serverOf, type ServerOfOptions } from './composition/server-of.ts'
export { DefinitionError, type DefinitionErrorCode, isDefinitionError } from './errors/definition-error.ts'
export {
  limitErrorToHttp,
  limitErrorToMcp,
  stoppingError,
  unavailableError,
} from './errors/rejections.ts'
export type {
  HttpLimits,
  HttpProtocolAdapter,
  HttpReply,
  HttpRequestView,
  ProtocolAdapters,
  RequestHead,
  StreamConnection,
  StreamHandler,
  StreamPeer,
  StreamProtocolAdapter,
} from './transports/protocol-adapters.ts'
export type {
  AuthenticationContext,
  HttpErrorContext,
  HttpErrorHead,
  HttpErrorResponse,
} from './errors/http-errors.ts'
export type { ProcessExit, ProcessView } from './transports/process.ts'
export type { HttpAuthorizer, HttpHeaders, HttpResponseHead, HttpTarget } from './transports/http-authorizer.ts'
