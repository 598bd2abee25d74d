/**
 * Validators of zod for every type of the protocol.
 *
 * @module @x/schema/zod
 */

export { annotations, role } from './basic/annotations.zod.ts'
export { clientCapabilities, serverCapabilities } from './basic/capabilities.zod.ts'
export { clientNotification, clientRequest, clientResult } from './basic/client-messages.zod.ts'
export {
  audioContent,
  contentBlock,
  embeddedResource,
  imageContent,
  resourceLink,
  textContent,
} from './basic/content.zod.ts'
export {
  headerMismatchError,
  internalError,
  invalidParamsError,
  invalidRequestError,
  methodNotFoundError,
  missingRequiredClientCapabilityError,
  parseError,
  unsupportedProtocolVersionError,
} from './basic/errors.zod.ts'
export { baseMetadata, icon, icons, implementation } from './basic/implementation.zod.ts'
export { issueOf, type Validator } from './methods/complete-result.zod.ts'
export { jsonArray, jsonObject, jsonValue } from './basic/json.zod.ts'
export {
  metaObject,
  notificationMetaObject,
  notificationParams,
  progressToken,
  requestMetaObject,
  requestParams,
  resultMetaObject,
} from './basic/meta.zod.ts'
export { requestId } from './basic/json.zod.ts'
export { emptyResult, result, resultType } from './basic/result.zod.ts'
export {
  rpcError,
  rpcMessage,
  rpcNotification,
  rpcNotificationFields,
  rpcRequest,
  rpcRequestFields,
  rpcResponse,
  rpcResult,
  wireError,
} from './basic/rpc.zod.ts'
export { serverNotification } from './basic/server-notification.zod.ts'
export { serverResult } from './basic/server-result.zod.ts'
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
} from './client/elicitation-schema.zod.ts'
export {
  elicitRequest,
  elicitRequestFormParams,
  elicitRequestParams,
  elicitRequestURLParams,
  elicitResult,
} from './client/elicitation.zod.ts'
export { listRootsRequest, listRootsResult, root } from './client/roots.zod.ts'
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
} from './client/sampling.zod.ts'
export { cancelledNotification, cancelledNotificationParams } from './patterns/cancellation.zod.ts'
export {
  inputRequest,
  inputRequests,
  inputRequiredResult,
  inputResponse,
  inputResponseRequestParams,
  inputResponses,
} from './patterns/mrtr.zod.ts'
export { progressNotification, progressNotificationParams } from './patterns/progress.zod.ts'
export {
  subscriptionFilter,
  subscriptionsAcknowledgedNotification,
  subscriptionsAcknowledgedNotificationParams,
  subscriptionsListenRequest,
  subscriptionsListenRequestParams,
  subscriptionsListenResult,
  subscriptionsListenResultMetaObject,
  subscriptionsListenResultResponse,
} from './patterns/subscriptions.zod.ts'
export { cacheableResult } from './server/caching.zod.ts'
export {
  completeRequest,
  completeRequestParams,
  completeResult,
  completeResultResponse,
  promptReference,
  resourceTemplateReference,
} from './server/completion.zod.ts'
export { discoverRequest, discoverResult, discoverResultResponse } from './server/discover.zod.ts'
export { loggingLevel } from './server/logging-level.zod.ts'
export { loggingMessageNotification, loggingMessageNotificationParams } from './server/logging.zod.ts'
export { cursor, paginatedRequest, paginatedRequestParams, paginatedResult } from './server/pagination.zod.ts'
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
} from './server/prompts.zod.ts'
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
} from './server/resource-requests.zod.ts'
export {
  blobResourceContents,
  resource,
  resourceContents,
  resourceListChangedNotification,
  resourceTemplate,
  resourceUpdatedNotification,
  resourceUpdatedNotificationParams,
  textResourceContents,
} from './server/resources.zod.ts'
export {
  callToolRequest,
  callToolRequestParams,
  callToolResult,
  callToolResultResponse,
  listToolsRequest,
  listToolsResult,
  listToolsResultResponse,
} from './server/tool-requests.zod.ts'
export { tool, toolAnnotations, toolListChangedNotification } from './server/tools.zod.ts'
export { paramsValidators, resultValidators } from './methods/methods.zod.ts'
