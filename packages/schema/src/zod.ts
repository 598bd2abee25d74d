/**
 * Validators of zod for every type of the protocol.
 *
 * @module @x/schema/zod
 */

import { type ZodOf, zodOf } from './basic/zod-of.ts'
import * as shapes from './shapes.ts'

export { issueOf, type Validator } from './methods/complete-result.zod.ts'
export { paramsValidators, resultValidators } from './methods/methods.zod.ts'
export { type ZodOf, zodOf }

/** Validates `Annotations`. */
export const annotations = zodOf(shapes.annotations)

/** Validates `AudioContent`. */
export const audioContent = zodOf(shapes.audioContent)

/** Validates `BaseMetadata`. */
export const baseMetadata = zodOf(shapes.baseMetadata)

/** Validates `BlobResourceContents`. */
export const blobResourceContents = zodOf(shapes.blobResourceContents)

/** Validates `BooleanSchema`. */
export const booleanSchema = zodOf(shapes.booleanSchema)

/** Validates `CacheableResult`. */
export const cacheableResult = zodOf(shapes.cacheableResult)

/** Validates `CallToolRequest`. */
export const callToolRequest = zodOf(shapes.callToolRequest)

/** Validates `CallToolRequestParams`. */
export const callToolRequestParams = zodOf(shapes.callToolRequestParams)

/** Validates `CallToolResult`. */
export const callToolResult = zodOf(shapes.callToolResult)

/** Validates `CallToolResultResponse`. */
export const callToolResultResponse = zodOf(shapes.callToolResultResponse)

/** Validates `CancelledNotification`. */
export const cancelledNotification = zodOf(shapes.cancelledNotification)

/** Validates `CancelledNotificationParams`. */
export const cancelledNotificationParams = zodOf(shapes.cancelledNotificationParams)

/** Validates `ClientCapabilities`. */
export const clientCapabilities = zodOf(shapes.clientCapabilities)

/** Validates `ClientNotification`. */
export const clientNotification = zodOf(shapes.clientNotification)

/** Validates `ClientRequest`. */
export const clientRequest = zodOf(shapes.clientRequest)

/** Validates `ClientResult`. */
export const clientResult = zodOf(shapes.clientResult)

/** Validates `CompleteRequest`. */
export const completeRequest = zodOf(shapes.completeRequest)

/** Validates `CompleteRequestParams`. */
export const completeRequestParams = zodOf(shapes.completeRequestParams)

/** Validates `CompleteResult`. */
export const completeResult = zodOf(shapes.completeResult)

/** Validates `CompleteResultResponse`. */
export const completeResultResponse = zodOf(shapes.completeResultResponse)

/** Validates `ContentBlock`. */
export const contentBlock = zodOf(shapes.contentBlock)

/** Validates `CreateMessageRequest`. */
export const createMessageRequest = zodOf(shapes.createMessageRequest)

/** Validates `CreateMessageRequestParams`. */
export const createMessageRequestParams = zodOf(shapes.createMessageRequestParams)

/** Validates `CreateMessageResult`. */
export const createMessageResult = zodOf(shapes.createMessageResult)

/** Validates `Cursor`. */
export const cursor = zodOf(shapes.cursor)

/** Validates `DiscoverRequest`. */
export const discoverRequest = zodOf(shapes.discoverRequest)

/** Validates `DiscoverResult`. */
export const discoverResult = zodOf(shapes.discoverResult)

/** Validates `DiscoverResultResponse`. */
export const discoverResultResponse = zodOf(shapes.discoverResultResponse)

/** Validates `ElicitRequest`. */
export const elicitRequest = zodOf(shapes.elicitRequest)

/** Validates `ElicitRequestFormParams`. */
export const elicitRequestFormParams = zodOf(shapes.elicitRequestFormParams)

/** Validates `ElicitRequestParams`. */
export const elicitRequestParams = zodOf(shapes.elicitRequestParams)

/** Validates `ElicitRequestURLParams`. */
export const elicitRequestURLParams = zodOf(shapes.elicitRequestURLParams)

/** Validates `ElicitResult`. */
export const elicitResult = zodOf(shapes.elicitResult)

/** Validates `EmbeddedResource`. */
export const embeddedResource = zodOf(shapes.embeddedResource)

/** Validates `EmptyResult`. */
export const emptyResult = zodOf(shapes.emptyResult)

/** Validates `EnumSchema`. */
export const enumSchema = zodOf(shapes.enumSchema)

/** Validates `GetPromptRequest`. */
export const getPromptRequest = zodOf(shapes.getPromptRequest)

/** Validates `GetPromptRequestParams`. */
export const getPromptRequestParams = zodOf(shapes.getPromptRequestParams)

/** Validates `GetPromptResult`. */
export const getPromptResult = zodOf(shapes.getPromptResult)

/** Validates `GetPromptResultResponse`. */
export const getPromptResultResponse = zodOf(shapes.getPromptResultResponse)

/** Validates `HeaderMismatchError`. */
export const headerMismatchError = zodOf(shapes.headerMismatchError)

/** Validates `Icon`. */
export const icon = zodOf(shapes.icon)

/** Validates `Icons`. */
export const icons = zodOf(shapes.icons)

/** Validates `ImageContent`. */
export const imageContent = zodOf(shapes.imageContent)

/** Validates `Implementation`. */
export const implementation = zodOf(shapes.implementation)

/** Validates `InputRequest`. */
export const inputRequest = zodOf(shapes.inputRequest)

/** Validates `InputRequests`. */
export const inputRequests = zodOf(shapes.inputRequests)

/** Validates `InputRequiredResult`. */
export const inputRequiredResult = zodOf(shapes.inputRequiredResult)

/** Validates `InputResponse`. */
export const inputResponse = zodOf(shapes.inputResponse)

/** Validates `InputResponseRequestParams`. */
export const inputResponseRequestParams = zodOf(shapes.inputResponseRequestParams)

/** Validates `InputResponses`. */
export const inputResponses = zodOf(shapes.inputResponses)

/** Validates `InternalError`. */
export const internalError = zodOf(shapes.internalError)

/** Validates `InvalidParamsError`. */
export const invalidParamsError = zodOf(shapes.invalidParamsError)

/** Validates `InvalidRequestError`. */
export const invalidRequestError = zodOf(shapes.invalidRequestError)

/** Validates `JsonArray`. */
export const jsonArray = zodOf(shapes.jsonArray)

/** Validates `JsonObject`. */
export const jsonObject = zodOf(shapes.jsonObject)

/** Validates `JsonValue`. */
export const jsonValue = zodOf(shapes.jsonValue)

/** Validates `LegacyTitledEnumSchema`. */
export const legacyTitledEnumSchema = zodOf(shapes.legacyTitledEnumSchema)

/** Validates `ListPromptsRequest`. */
export const listPromptsRequest = zodOf(shapes.listPromptsRequest)

/** Validates `ListPromptsResult`. */
export const listPromptsResult = zodOf(shapes.listPromptsResult)

/** Validates `ListPromptsResultResponse`. */
export const listPromptsResultResponse = zodOf(shapes.listPromptsResultResponse)

/** Validates `ListResourceTemplatesRequest`. */
export const listResourceTemplatesRequest = zodOf(shapes.listResourceTemplatesRequest)

/** Validates `ListResourceTemplatesResult`. */
export const listResourceTemplatesResult = zodOf(shapes.listResourceTemplatesResult)

/** Validates `ListResourceTemplatesResultResponse`. */
export const listResourceTemplatesResultResponse = zodOf(shapes.listResourceTemplatesResultResponse)

/** Validates `ListResourcesRequest`. */
export const listResourcesRequest = zodOf(shapes.listResourcesRequest)

/** Validates `ListResourcesResult`. */
export const listResourcesResult = zodOf(shapes.listResourcesResult)

/** Validates `ListResourcesResultResponse`. */
export const listResourcesResultResponse = zodOf(shapes.listResourcesResultResponse)

/** Validates `ListRootsRequest`. */
export const listRootsRequest = zodOf(shapes.listRootsRequest)

/** Validates `ListRootsResult`. */
export const listRootsResult = zodOf(shapes.listRootsResult)

/** Validates `ListToolsRequest`. */
export const listToolsRequest = zodOf(shapes.listToolsRequest)

/** Validates `ListToolsResult`. */
export const listToolsResult = zodOf(shapes.listToolsResult)

/** Validates `ListToolsResultResponse`. */
export const listToolsResultResponse = zodOf(shapes.listToolsResultResponse)

/** Validates `LoggingLevel`. */
export const loggingLevel = zodOf(shapes.loggingLevel)

/** Validates `LoggingMessageNotification`. */
export const loggingMessageNotification = zodOf(shapes.loggingMessageNotification)

/** Validates `LoggingMessageNotificationParams`. */
export const loggingMessageNotificationParams = zodOf(shapes.loggingMessageNotificationParams)

/** Validates `MetaObject`. */
export const metaObject = zodOf(shapes.metaObject)

/** Validates `MethodNotFoundError`. */
export const methodNotFoundError = zodOf(shapes.methodNotFoundError)

/** Validates `MissingRequiredClientCapabilityError`. */
export const missingRequiredClientCapabilityError = zodOf(shapes.missingRequiredClientCapabilityError)

/** Validates `ModelHint`. */
export const modelHint = zodOf(shapes.modelHint)

/** Validates `ModelPreferences`. */
export const modelPreferences = zodOf(shapes.modelPreferences)

/** Validates `MultiSelectEnumSchema`. */
export const multiSelectEnumSchema = zodOf(shapes.multiSelectEnumSchema)

/** Validates `NotificationMetaObject`. */
export const notificationMetaObject = zodOf(shapes.notificationMetaObject)

/** Validates `NotificationParams`. */
export const notificationParams = zodOf(shapes.notificationParams)

/** Validates `NumberSchema`. */
export const numberSchema = zodOf(shapes.numberSchema)

/** Validates `PaginatedRequest`. */
export const paginatedRequest = zodOf(shapes.paginatedRequest)

/** Validates `PaginatedRequestParams`. */
export const paginatedRequestParams = zodOf(shapes.paginatedRequestParams)

/** Validates `PaginatedResult`. */
export const paginatedResult = zodOf(shapes.paginatedResult)

/** Validates `ParseError`. */
export const parseError = zodOf(shapes.parseError)

/** Validates `PrimitiveSchemaDefinition`. */
export const primitiveSchemaDefinition = zodOf(shapes.primitiveSchemaDefinition)

/** Validates `ProgressNotification`. */
export const progressNotification = zodOf(shapes.progressNotification)

/** Validates `ProgressNotificationParams`. */
export const progressNotificationParams = zodOf(shapes.progressNotificationParams)

/** Validates `ProgressToken`. */
export const progressToken = zodOf(shapes.progressToken)

/** Validates `Prompt`. */
export const prompt = zodOf(shapes.prompt)

/** Validates `PromptArgument`. */
export const promptArgument = zodOf(shapes.promptArgument)

/** Validates `PromptListChangedNotification`. */
export const promptListChangedNotification = zodOf(shapes.promptListChangedNotification)

/** Validates `PromptMessage`. */
export const promptMessage = zodOf(shapes.promptMessage)

/** Validates `PromptReference`. */
export const promptReference = zodOf(shapes.promptReference)

/** Validates `ReadResourceRequest`. */
export const readResourceRequest = zodOf(shapes.readResourceRequest)

/** Validates `ReadResourceRequestParams`. */
export const readResourceRequestParams = zodOf(shapes.readResourceRequestParams)

/** Validates `ReadResourceResult`. */
export const readResourceResult = zodOf(shapes.readResourceResult)

/** Validates `ReadResourceResultResponse`. */
export const readResourceResultResponse = zodOf(shapes.readResourceResultResponse)

/** Validates `RequestId`. */
export const requestId = zodOf(shapes.requestId)

/** Validates `RequestMetaObject`. */
export const requestMetaObject = zodOf(shapes.requestMetaObject)

/** Validates `RequestParams`. */
export const requestParams = zodOf(shapes.requestParams)

/** Validates `Resource`. */
export const resource = zodOf(shapes.resource)

/** Validates `ResourceContents`. */
export const resourceContents = zodOf(shapes.resourceContents)

/** Validates `ResourceLink`. */
export const resourceLink = zodOf(shapes.resourceLink)

/** Validates `ResourceListChangedNotification`. */
export const resourceListChangedNotification = zodOf(shapes.resourceListChangedNotification)

/** Validates `ResourceRequestParams`. */
export const resourceRequestParams = zodOf(shapes.resourceRequestParams)

/** Validates `ResourceTemplate`. */
export const resourceTemplate = zodOf(shapes.resourceTemplate)

/** Validates `ResourceTemplateReference`. */
export const resourceTemplateReference = zodOf(shapes.resourceTemplateReference)

/** Validates `ResourceUpdatedNotification`. */
export const resourceUpdatedNotification = zodOf(shapes.resourceUpdatedNotification)

/** Validates `ResourceUpdatedNotificationParams`. */
export const resourceUpdatedNotificationParams = zodOf(shapes.resourceUpdatedNotificationParams)

/** Validates `Result`. */
export const result = zodOf(shapes.result)

/** Validates `ResultMetaObject`. */
export const resultMetaObject = zodOf(shapes.resultMetaObject)

/** Validates `ResultType`. */
export const resultType = zodOf(shapes.resultType)

/** Validates `Role`. */
export const role = zodOf(shapes.role)

/** Validates `Root`. */
export const root = zodOf(shapes.root)

/** Validates `RpcError`. */
export const rpcError = zodOf(shapes.rpcError)

/** Validates `RpcMessage`. */
export const rpcMessage = zodOf(shapes.rpcMessage)

/** Validates `RpcNotification`. */
export const rpcNotification = zodOf(shapes.rpcNotification)

/** Validates `RpcNotificationFields`. */
export const rpcNotificationFields = zodOf(shapes.rpcNotificationFields)

/** Validates `RpcRequest`. */
export const rpcRequest = zodOf(shapes.rpcRequest)

/** Validates `RpcRequestFields`. */
export const rpcRequestFields = zodOf(shapes.rpcRequestFields)

/** Validates `RpcResponse`. */
export const rpcResponse = zodOf(shapes.rpcResponse)

/** Validates `RpcResult`. */
export const rpcResult = zodOf(shapes.rpcResult)

/** Validates `SamplingMessage`. */
export const samplingMessage = zodOf(shapes.samplingMessage)

/** Validates `SamplingMessageContentBlock`. */
export const samplingMessageContentBlock = zodOf(shapes.samplingMessageContentBlock)

/** Validates `ServerCapabilities`. */
export const serverCapabilities = zodOf(shapes.serverCapabilities)

/** Validates `ServerNotification`. */
export const serverNotification = zodOf(shapes.serverNotification)

/** Validates `ServerResult`. */
export const serverResult = zodOf(shapes.serverResult)

/** Validates `SingleSelectEnumSchema`. */
export const singleSelectEnumSchema = zodOf(shapes.singleSelectEnumSchema)

/** Validates `StringSchema`. */
export const stringSchema = zodOf(shapes.stringSchema)

/** Validates `SubscriptionFilter`. */
export const subscriptionFilter = zodOf(shapes.subscriptionFilter)

/** Validates `SubscriptionsAcknowledgedNotification`. */
export const subscriptionsAcknowledgedNotification = zodOf(shapes.subscriptionsAcknowledgedNotification)

/** Validates `SubscriptionsAcknowledgedNotificationParams`. */
export const subscriptionsAcknowledgedNotificationParams = zodOf(shapes.subscriptionsAcknowledgedNotificationParams)

/** Validates `SubscriptionsListenRequest`. */
export const subscriptionsListenRequest = zodOf(shapes.subscriptionsListenRequest)

/** Validates `SubscriptionsListenRequestParams`. */
export const subscriptionsListenRequestParams = zodOf(shapes.subscriptionsListenRequestParams)

/** Validates `SubscriptionsListenResult`. */
export const subscriptionsListenResult = zodOf(shapes.subscriptionsListenResult)

/** Validates `SubscriptionsListenResultMetaObject`. */
export const subscriptionsListenResultMetaObject = zodOf(shapes.subscriptionsListenResultMetaObject)

/** Validates `SubscriptionsListenResultResponse`. */
export const subscriptionsListenResultResponse = zodOf(shapes.subscriptionsListenResultResponse)

/** Validates `TextContent`. */
export const textContent = zodOf(shapes.textContent)

/** Validates `TextResourceContents`. */
export const textResourceContents = zodOf(shapes.textResourceContents)

/** Validates `TitledMultiSelectEnumSchema`. */
export const titledMultiSelectEnumSchema = zodOf(shapes.titledMultiSelectEnumSchema)

/** Validates `TitledSingleSelectEnumSchema`. */
export const titledSingleSelectEnumSchema = zodOf(shapes.titledSingleSelectEnumSchema)

/** Validates `Tool`. */
export const tool = zodOf(shapes.tool)

/** Validates `ToolAnnotations`. */
export const toolAnnotations = zodOf(shapes.toolAnnotations)

/** Validates `ToolChoice`. */
export const toolChoice = zodOf(shapes.toolChoice)

/** Validates `ToolListChangedNotification`. */
export const toolListChangedNotification = zodOf(shapes.toolListChangedNotification)

/** Validates `ToolResultContent`. */
export const toolResultContent = zodOf(shapes.toolResultContent)

/** Validates `ToolUseContent`. */
export const toolUseContent = zodOf(shapes.toolUseContent)

/** Validates `UnsupportedProtocolVersionError`. */
export const unsupportedProtocolVersionError = zodOf(shapes.unsupportedProtocolVersionError)

/** Validates `UntitledMultiSelectEnumSchema`. */
export const untitledMultiSelectEnumSchema = zodOf(shapes.untitledMultiSelectEnumSchema)

/** Validates `UntitledSingleSelectEnumSchema`. */
export const untitledSingleSelectEnumSchema = zodOf(shapes.untitledSingleSelectEnumSchema)

/** Validates `WireError`. */
export const wireError = zodOf(shapes.wireError)
