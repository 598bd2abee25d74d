/**
 * Messages of the protocol, with their checks and errors.
 *
 * @module @x/schema
 */

export { isJsonObject, type JsonArray, type JsonObject, type JsonValue } from '@x/core'
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
export {
  decodeHeaderValue,
  encodeHeaderValue,
  type HeaderParam,
  type HeaderParams,
} from './transports/header-params.ts'
export { checkHeaderParams, encodeHeaderArguments, parseHeaderParams } from './transports/header-params.ts'
export type { CancelledNotificationParams } from './patterns/cancellation.ts'
export type { ProgressNotificationParams } from './patterns/progress.ts'
export type { LoggingMessageNotificationParams } from './server/logging.ts'
