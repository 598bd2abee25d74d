/**
 * The messages of the protocol, their checks, and the interfaces between the packages.
 *
 * @module @x/schema
 */

export { isJson, isJsonObject, type JsonArray, type JsonObject, type JsonValue } from '@x/core'
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
  type Platform,
  platformKey,
  type TaskAttempt,
  taskAttemptKey,
  transportKey,
  withContext,
  withHeader,
  withNotify,
} from './composition/call-context.ts'
export { limitErrorToMcp, stoppingError, unavailableError } from './composition/rejections.ts'
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
} from './composition/server.ts'
export { DefinitionError, type DefinitionProblem } from './composition/definition-error.ts'
export { serverOf, type ServerParts } from './composition/server-of.ts'
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
} from './composition/server-extension.ts'
export { type CallContext, type ContextKey, contextKey } from './basic/exchange.ts'
export type {
  CallSubject,
  RunEndKind,
  ServerEvent,
  ServerEvents,
} from './composition/server-event.ts'
export type {
  BackgroundRunner,
  Call,
  CallHeaders,
  Exchange,
  HeaderParams,
  JournalEntry,
  JournalStore,
  Middleware,
  Principal,
} from './basic/exchange.ts'
export { type ErrorCode, errorCodes, legacyResourceNotFound } from './basic/mcp-error.ts'
export { errorResponse, isMcpError, McpError, toWire } from './basic/mcp-error.ts'
export { isMetaKey, metaKeys, projectMetaKeys } from './basic/meta-keys.ts'
export { protocolVersion, protocolVersions } from './basic/revision.ts'
export type {
  RequestId,
  RpcError,
  RpcMessage,
  RpcNotification,
  RpcRequest,
  RpcResponse,
  RpcResult,
  StatefulRequest,
  StatefulResponse,
  WireError,
} from './basic/rpc.ts'
export type { CapabilitySettings, ClientCapabilities } from './basic/capabilities.ts'
export type { ListCapability, ServerCapabilities } from './basic/capabilities.ts'
export type {
  AudioContent,
  ContentBlock,
  EmbeddedResource,
  ImageContent,
  ResourceLink,
  TextContent,
} from './basic/content.ts'
export type { BaseMetadata, Icon, Icons, Implementation } from './basic/implementation.ts'
export type {
  LoggingLevel,
  MetaObject,
  NotificationMetaObject,
  NotificationParams,
  ProgressToken,
  RequestMetaObject,
  RequestParams,
  ResultMetaObject,
} from './basic/meta.ts'
export type { EmptyResult, Result, ResultType } from './basic/result.ts'
export type {
  BooleanSchema,
  EnumSchema,
  LegacyTitledEnumSchema,
  MultiSelectEnumSchema,
  NumberSchema,
  PrimitiveSchemaDefinition,
  SingleSelectEnumSchema,
  StringSchema,
  TitledMultiSelectEnumSchema,
  TitledOption,
  TitledSingleSelectEnumSchema,
  UntitledMultiSelectEnumSchema,
  UntitledSingleSelectEnumSchema,
} from './client/elicitation-schema.ts'
export type {
  ElicitRequest,
  ElicitRequestFormParams,
  ElicitRequestParams,
  ElicitRequestURLParams,
  ElicitResult,
  RequestedSchema,
} from './client/elicitation.ts'
export type { ListRootsRequest, ListRootsResult, Root } from './client/roots.ts'
export type {
  CreateMessageRequest,
  CreateMessageRequestParams,
  CreateMessageResult,
  ModelHint,
  ModelPreferences,
  SamplingMessage,
  SamplingMessageContentBlock,
  ToolChoice,
  ToolResultContent,
  ToolUseContent,
} from './client/sampling.ts'
export type {
  InputRequest,
  InputRequests,
  InputRequiredResult,
  InputResponse,
  InputResponseRequestParams,
  InputResponses,
} from './patterns/mrtr.ts'
export type {
  SubscriptionFilter,
  SubscriptionsAcknowledgedNotificationParams,
  SubscriptionsListenRequestParams,
  SubscriptionsListenResult,
  SubscriptionsListenResultMetaObject,
} from './patterns/subscriptions.ts'
export type { CacheScope, CacheableResult } from './server/caching.ts'
export type {
  CompleteRequestParams,
  CompleteResult,
  PromptReference,
  ResourceTemplateReference,
} from './server/completion.ts'
export type { DiscoverResult } from './server/discover.ts'
export type {
  Cursor,
  PaginatedRequestParams,
  PaginatedResult,
} from './server/pagination.ts'
export type {
  GetPromptRequestParams,
  GetPromptResult,
  ListPromptsResult,
  Prompt,
  PromptArgument,
  PromptMessage,
} from './server/prompts.ts'
export type {
  ListResourceTemplatesResult,
  ListResourcesResult,
  ReadResourceRequestParams,
  ReadResourceResult,
  ResourceRequestParams,
} from './server/resource-requests.ts'
export type {
  Annotations,
  BlobResourceContents,
  Resource,
  ResourceContents,
  ResourceTemplate,
  ResourceUpdatedNotificationParams,
  Role,
  TextResourceContents,
} from './server/resources.ts'
export type {
  CallToolRequestParams,
  CallToolResult,
  ListToolsResult,
} from './server/tool-requests.ts'
export type {
  Tool,
  ToolAnnotations,
  ToolInputSchema,
  ToolOutputSchema,
} from './server/tools.ts'
export {
  findSchemaProblem,
  type JsonSchemaCompiler,
  type SchemaIssue,
} from './json-schema/check-schema.ts'
export { defaultBounds, type ParseBounds } from './messages/scan-text.ts'
export { checkCreateMessageResult, checkListRootsResult, checkResult } from './methods/check-results.ts'
export { checkInputRequest, checkInputRequests } from './methods/check-results.ts'
export type { Check, Failure } from './basic/failure.ts'
export { encodeMessage, prepareResult } from './messages/encode-message.ts'
export { type Method, type MethodRow, findMethodRow, methods, type MethodTypes } from './methods/methods.ts'
export { findNotificationRow, requestMetaOf } from './methods/methods.ts'
export {
  isErrorResponse,
  isNotification,
  isRequest,
  isResponse,
  parseMessage,
  parseRequestOrNotification,
  rejectedRequestIdOf,
} from './messages/parse-message.ts'
export { findMissingCapabilities } from './basic/missing-capabilities.ts'
export { type TraceContext, traceContextOf } from './basic/trace-context.ts'
export { decodeHeaderValue, encodeHeaderValue, type HeaderParam } from './transports/header-params.ts'
export type {
  HttpLimits,
  HttpErrorHead,
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
  HttpAuthorizer,
  HttpHeaders,
  HttpResponseHead,
  HttpTarget,
} from './transports/http-authorizer.ts'
export { checkHeaderParams, encodeHeaderArguments, parseHeaderParams } from './transports/header-params.ts'
export type { CancelledNotificationParams } from './patterns/cancellation.ts'
export type { ProgressNotificationParams } from './patterns/progress.ts'
export type { LoggingMessageNotificationParams } from './server/logging.ts'
