/** Shapes of the protocol's types, each under the name of its type in lower camel case. */

export { clientCapabilities, serverCapabilities } from './basic/capabilities.ts'
export {
  audioContent,
  contentBlock,
  embeddedResource,
  imageContent,
  resourceLink,
  textContent,
} from './basic/content.ts'
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
  rpcRequest,
  wireError,
} from './basic/rpc.ts'
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
export { cancelledNotificationParams } from './patterns/cancellation.ts'
export {
  inputRequest,
  inputRequests,
  inputRequiredResult,
  inputResponse,
  inputResponseRequestParams,
  inputResponses,
} from './patterns/mrtr.ts'
export { progressNotificationParams } from './patterns/progress.ts'
export {
  subscriptionFilter,
  subscriptionsAcknowledgedNotificationParams,
  subscriptionsListenRequestParams,
  subscriptionsListenResult,
  subscriptionsListenResultMetaObject,
} from './patterns/subscriptions.ts'
export { cacheableResult } from './server/caching.ts'
export {
  completeRequestParams,
  completeResult,
  promptReference,
  resourceTemplateReference,
} from './server/completion.ts'
export { discoverResult } from './server/discover.ts'
export { loggingMessageNotificationParams } from './server/logging.ts'
export { cursor, paginatedRequestParams, paginatedResult } from './server/pagination.ts'
export {
  getPromptRequestParams,
  getPromptResult,
  listPromptsResult,
  prompt,
  promptArgument,
  promptMessage,
} from './server/prompts.ts'
export {
  listResourceTemplatesResult,
  listResourcesResult,
  readResourceRequestParams,
  readResourceResult,
  resourceRequestParams,
} from './server/resource-requests.ts'
export {
  annotations,
  blobResourceContents,
  resource,
  resourceContents,
  resourceTemplate,
  resourceUpdatedNotificationParams,
  role,
  textResourceContents,
} from './server/resources.ts'
export { callToolRequestParams, callToolResult, listToolsResult } from './server/tool-requests.ts'
export { tool, toolAnnotations } from './server/tools.ts'
export { jsonArray, jsonObject, jsonValue } from './basic/shape.ts'
