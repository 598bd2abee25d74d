/**
 * The shapes of the protocol's types, and the functions that describe a type and derive its check, for extensions of the
 * protocol.
 *
 * @module @x/schema/shapes
 */

export type { Check, Failure } from './basic/failure.ts'
export { clientCapabilities, serverCapabilities } from './basic/capabilities.ts'
export { clientNotification, clientRequest, clientResult } from './basic/client-messages.ts'
export {
  audioContent,
  contentBlock,
  embeddedResource,
  imageContent,
  resourceLink,
  textContent,
} from './basic/content.ts'
export {
  headerMismatchError,
  internalError,
  invalidParamsError,
  invalidRequestError,
  methodNotFoundError,
  missingRequiredClientCapabilityError,
  parseError,
  unsupportedProtocolVersionError,
} from './basic/errors.ts'
export { baseMetadata, icon, icons, implementation } from './basic/implementation.ts'
export {
  loggingLevel,
  metaObject,
  notificationMetaObject,
  notificationParams,
  progressToken,
  requestMetaObject,
  requestParams,
  resultMetaObject,
} from './basic/meta.ts'
export { emptyResult, result, resultType, rpcMessage, rpcResponse, rpcResult } from './basic/result.ts'
export {
  requestId,
  rpcError,
  rpcNotification,
  rpcNotificationFields,
  rpcRequest,
  rpcRequestFields,
  wireError,
} from './basic/rpc.ts'
export { serverNotification } from './basic/server-notification.ts'
export { serverResult } from './basic/server-result.ts'
export {
  boolean,
  unionByMember,
  type CheckDepth,
  checkOf,
  type Description,
  type Descriptions,
  durationMs,
  formValue,
  integer,
  integerOrNull,
  list,
  map,
  number,
  numberFromZeroToOne,
  looseShape,
  optional,
  type NamedKeys,
  type DescriptionOf,
  type SelectedVariant,
  type Shape,
  shape,
  string,
  stringOrInteger,
  stringsUpTo,
  union,
  literal,
  type LeafKind,
  jsonArray,
  jsonObject,
  jsonValue,
} from './basic/shape.ts'
export {
  booleanSchema,
  enumSchema,
  legacyTitledEnumSchema,
  multiSelectEnumSchema,
  numberSchema,
  primitiveSchemaDefinition,
  singleSelectEnumSchema,
  stringSchema,
  titledMultiSelectEnumSchema,
  titledSingleSelectEnumSchema,
  untitledMultiSelectEnumSchema,
  untitledSingleSelectEnumSchema,
} from './client/elicitation-schema.ts'
export {
  elicitRequest,
  elicitRequestFormParams,
  elicitRequestParams,
  elicitRequestURLParams,
  elicitResult,
} from './client/elicitation.ts'
export { listRootsRequest, listRootsResult, root } from './client/roots.ts'
export {
  createMessageRequest,
  createMessageRequestParams,
  createMessageResult,
  modelHint,
  modelPreferences,
  samplingMessage,
  samplingMessageContentBlock,
  toolChoice,
  toolResultContent,
  toolUseContent,
} from './client/sampling.ts'
export { cancelledNotification, cancelledNotificationParams } from './patterns/cancellation.ts'
export {
  inputRequest,
  inputRequests,
  inputRequiredResult,
  inputResponse,
  inputResponseRequestParams,
  inputResponses,
} from './patterns/mrtr.ts'
export { progressNotification, progressNotificationParams } from './patterns/progress.ts'
export {
  subscriptionFilter,
  subscriptionsAcknowledgedNotification,
  subscriptionsAcknowledgedNotificationParams,
  subscriptionsListenRequest,
  subscriptionsListenRequestParams,
  subscriptionsListenResult,
  subscriptionsListenResultMetaObject,
  subscriptionsListenResultResponse,
} from './patterns/subscriptions.ts'
export { cacheableResult } from './server/caching.ts'
export {
  completeRequest,
  completeRequestParams,
  completeResult,
  completeResultResponse,
  promptReference,
  resourceTemplateReference,
} from './server/completion.ts'
export { discoverRequest, discoverResult, discoverResultResponse } from './server/discover.ts'
export { loggingMessageNotification, loggingMessageNotificationParams } from './server/logging.ts'
export { cursor, paginatedRequest, paginatedRequestParams, paginatedResult } from './server/pagination.ts'
export {
  getPromptRequest,
  getPromptRequestParams,
  getPromptResult,
  getPromptResultResponse,
  listPromptsRequest,
  listPromptsResult,
  listPromptsResultResponse,
  prompt,
  promptArgument,
  promptListChangedNotification,
  promptMessage,
} from './server/prompts.ts'
export {
  listResourceTemplatesRequest,
  listResourceTemplatesResult,
  listResourceTemplatesResultResponse,
  listResourcesRequest,
  listResourcesResult,
  listResourcesResultResponse,
  readResourceRequest,
  readResourceRequestParams,
  readResourceResult,
  readResourceResultResponse,
  resourceRequestParams,
} from './server/resource-requests.ts'
export {
  annotations,
  blobResourceContents,
  resource,
  resourceContents,
  resourceListChangedNotification,
  resourceTemplate,
  resourceUpdatedNotification,
  resourceUpdatedNotificationParams,
  role,
  textResourceContents,
} from './server/resources.ts'
export {
  callToolRequest,
  callToolRequestParams,
  callToolResult,
  callToolResultResponse,
  listToolsRequest,
  listToolsResult,
  listToolsResultResponse,
} from './server/tool-requests.ts'
export { tool, toolAnnotations, toolListChangedNotification } from './server/tools.ts'
