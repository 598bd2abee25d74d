// biome-ignore-all format: generated from the published schema by published-types.ts
import type { Of } from './published.ts'

/** The published types. What another definition describes is the type of its shape. */
export interface PublishedTypes {
  annotations: { readonly "audience"?: readonly (Of<'role'>)[] | undefined; readonly "lastModified"?: string | undefined; readonly "priority"?: number | undefined }
  audioContent: { readonly "_meta"?: Of<'metaObject'> | undefined; readonly "annotations"?: Of<'annotations'> | undefined; readonly "data": string; readonly "mimeType": string; readonly "type": "audio" }
  baseMetadata: { readonly "name": string; readonly "title"?: string | undefined }
  blobResourceContents: { readonly "_meta"?: Of<'metaObject'> | undefined; readonly "blob": string; readonly "mimeType"?: string | undefined; readonly "uri": string }
  booleanSchema: { readonly "default"?: boolean | undefined; readonly "description"?: string | undefined; readonly "title"?: string | undefined; readonly "type": "boolean" }
  cacheableResult: { readonly "_meta"?: Of<'resultMetaObject'> | undefined; readonly "cacheScope": "private" | "public"; readonly "resultType": Of<'resultType'>; readonly "ttlMs": number }
  callToolRequest: { readonly "id": Of<'requestId'>; readonly "jsonrpc": "2.0"; readonly "method": "tools/call"; readonly "params": Of<'callToolRequestParams'> }
  callToolRequestParams: { readonly "_meta": Of<'requestMetaObject'>; readonly "arguments"?: { readonly [key: string]: Of<'jsonValue'> | undefined } | undefined; readonly "inputResponses"?: Of<'inputResponses'> | undefined; readonly "name": string; readonly "requestState"?: string | undefined }
  callToolResult: { readonly "_meta"?: Of<'resultMetaObject'> | undefined; readonly "content": readonly (Of<'contentBlock'>)[]; readonly "isError"?: boolean | undefined; readonly "resultType": Of<'resultType'>; readonly "structuredContent"?: Of<'jsonValue'> | undefined }
  callToolResultResponse: { readonly "id": Of<'requestId'>; readonly "jsonrpc": "2.0"; readonly "result": Of<'inputRequiredResult'> | Of<'callToolResult'> }
  cancelledNotification: { readonly "jsonrpc": "2.0"; readonly "method": "notifications/cancelled"; readonly "params": Of<'cancelledNotificationParams'> }
  cancelledNotificationParams: { readonly "_meta"?: Of<'notificationMetaObject'> | undefined; readonly "reason"?: string | undefined; readonly "requestId": Of<'requestId'> }
  clientCapabilities: { readonly "elicitation"?: { readonly "form"?: Of<'jsonObject'> | undefined; readonly "url"?: Of<'jsonObject'> | undefined } | undefined; readonly "experimental"?: { readonly [key: string]: Of<'jsonObject'> } | undefined; readonly "extensions"?: { readonly [key: string]: Of<'jsonObject'> } | undefined; readonly "roots"?: Of<'jsonObject'> | undefined; readonly "sampling"?: { readonly "context"?: Of<'jsonObject'> | undefined; readonly "tools"?: Of<'jsonObject'> | undefined } | undefined }
  clientNotification: { readonly "jsonrpc": "2.0"; readonly "method": "notifications/cancelled"; readonly "params": Of<'cancelledNotificationParams'> }
  clientRequest: Of<'discoverRequest'> | Of<'listResourcesRequest'> | Of<'listResourceTemplatesRequest'> | Of<'readResourceRequest'> | Of<'subscriptionsListenRequest'> | Of<'listPromptsRequest'> | Of<'getPromptRequest'> | Of<'listToolsRequest'> | Of<'callToolRequest'> | Of<'completeRequest'>
  clientResult: Of<'result'>
  completeRequest: { readonly "id": Of<'requestId'>; readonly "jsonrpc": "2.0"; readonly "method": "completion/complete"; readonly "params": Of<'completeRequestParams'> }
  completeRequestParams: { readonly "_meta": Of<'requestMetaObject'>; readonly "argument": { readonly "name": string; readonly "value": string }; readonly "context"?: { readonly "arguments"?: { readonly [key: string]: string } | undefined } | undefined; readonly "ref": Of<'promptReference'> | Of<'resourceTemplateReference'> }
  completeResult: { readonly "_meta"?: Of<'resultMetaObject'> | undefined; readonly "completion": { readonly "hasMore"?: boolean | undefined; readonly "total"?: number | undefined; readonly "values": readonly (string)[] }; readonly "resultType": Of<'resultType'> }
  completeResultResponse: { readonly "id": Of<'requestId'>; readonly "jsonrpc": "2.0"; readonly "result": Of<'completeResult'> }
  contentBlock: Of<'textContent'> | Of<'imageContent'> | Of<'audioContent'> | Of<'resourceLink'> | Of<'embeddedResource'>
  createMessageRequest: { readonly "method": "sampling/createMessage"; readonly "params": Of<'createMessageRequestParams'> }
  createMessageRequestParams: { readonly "includeContext"?: "allServers" | "none" | "thisServer" | undefined; readonly "maxTokens": number; readonly "messages": readonly (Of<'samplingMessage'>)[]; readonly "metadata"?: Of<'jsonObject'> | undefined; readonly "modelPreferences"?: Of<'modelPreferences'> | undefined; readonly "stopSequences"?: readonly (string)[] | undefined; readonly "systemPrompt"?: string | undefined; readonly "temperature"?: number | undefined; readonly "toolChoice"?: Of<'toolChoice'> | undefined; readonly "tools"?: readonly (Of<'tool'>)[] | undefined }
  createMessageResult: { readonly "_meta"?: Of<'metaObject'> | undefined; readonly "content": Of<'textContent'> | Of<'imageContent'> | Of<'audioContent'> | Of<'toolUseContent'> | Of<'toolResultContent'> | readonly (Of<'samplingMessageContentBlock'>)[]; readonly "model": string; readonly "role": Of<'role'>; readonly "stopReason"?: string | undefined }
  cursor: string
  discoverRequest: { readonly "id": Of<'requestId'>; readonly "jsonrpc": "2.0"; readonly "method": "server/discover"; readonly "params": Of<'requestParams'> }
  discoverResult: { readonly "_meta"?: Of<'resultMetaObject'> | undefined; readonly "cacheScope": "private" | "public"; readonly "capabilities": Of<'serverCapabilities'>; readonly "instructions"?: string | undefined; readonly "resultType": Of<'resultType'>; readonly "supportedVersions": readonly (string)[]; readonly "ttlMs": number }
  discoverResultResponse: { readonly "id": Of<'requestId'>; readonly "jsonrpc": "2.0"; readonly "result": Of<'discoverResult'> }
  elicitRequest: { readonly "method": "elicitation/create"; readonly "params": Of<'elicitRequestParams'> }
  elicitRequestFormParams: { readonly "message": string; readonly "mode"?: "form" | undefined; readonly "requestedSchema": { readonly "$schema"?: string | undefined; readonly "properties": { readonly [key: string]: Of<'primitiveSchemaDefinition'> }; readonly "required"?: readonly (string)[] | undefined; readonly "type": "object" } }
  elicitRequestParams: Of<'elicitRequestFormParams'> | Of<'elicitRequestURLParams'>
  elicitRequestURLParams: { readonly "message": string; readonly "mode": "url"; readonly "url": string }
  elicitResult: { readonly "action": "accept" | "cancel" | "decline"; readonly "content"?: { readonly [key: string]: readonly (string)[] | string | number | boolean } | undefined }
  embeddedResource: { readonly "_meta"?: Of<'metaObject'> | undefined; readonly "annotations"?: Of<'annotations'> | undefined; readonly "resource": Of<'textResourceContents'> | Of<'blobResourceContents'>; readonly "type": "resource" }
  emptyResult: Of<'result'>
  enumSchema: Of<'untitledSingleSelectEnumSchema'> | Of<'titledSingleSelectEnumSchema'> | Of<'untitledMultiSelectEnumSchema'> | Of<'titledMultiSelectEnumSchema'> | Of<'legacyTitledEnumSchema'>
  wireError: { readonly "code": number; readonly "data"?: Of<'jsonValue'> | undefined; readonly "message": string }
  getPromptRequest: { readonly "id": Of<'requestId'>; readonly "jsonrpc": "2.0"; readonly "method": "prompts/get"; readonly "params": Of<'getPromptRequestParams'> }
  getPromptRequestParams: { readonly "_meta": Of<'requestMetaObject'>; readonly "arguments"?: { readonly [key: string]: string } | undefined; readonly "inputResponses"?: Of<'inputResponses'> | undefined; readonly "name": string; readonly "requestState"?: string | undefined }
  getPromptResult: { readonly "_meta"?: Of<'resultMetaObject'> | undefined; readonly "description"?: string | undefined; readonly "messages": readonly (Of<'promptMessage'>)[]; readonly "resultType": Of<'resultType'> }
  getPromptResultResponse: { readonly "id": Of<'requestId'>; readonly "jsonrpc": "2.0"; readonly "result": Of<'inputRequiredResult'> | Of<'getPromptResult'> }
  headerMismatchError: { readonly "error": Of<'wireError'> & { readonly "code": -32020 }; readonly "id"?: Of<'requestId'> | undefined; readonly "jsonrpc": "2.0" }
  icon: { readonly "mimeType"?: string | undefined; readonly "sizes"?: readonly (string)[] | undefined; readonly "src": string; readonly "theme"?: "dark" | "light" | undefined }
  icons: { readonly "icons"?: readonly (Of<'icon'>)[] | undefined }
  imageContent: { readonly "_meta"?: Of<'metaObject'> | undefined; readonly "annotations"?: Of<'annotations'> | undefined; readonly "data": string; readonly "mimeType": string; readonly "type": "image" }
  implementation: { readonly "description"?: string | undefined; readonly "icons"?: readonly (Of<'icon'>)[] | undefined; readonly "name": string; readonly "title"?: string | undefined; readonly "version": string; readonly "websiteUrl"?: string | undefined }
  inputRequest: Of<'createMessageRequest'> | Of<'listRootsRequest'> | Of<'elicitRequest'>
  inputRequests: { readonly [key: string]: Of<'inputRequest'> }
  inputRequiredResult: { readonly "_meta"?: Of<'resultMetaObject'> | undefined; readonly "inputRequests"?: Of<'inputRequests'> | undefined; readonly "requestState"?: string | undefined; readonly "resultType": Of<'resultType'> }
  inputResponse: Of<'createMessageResult'> | Of<'listRootsResult'> | Of<'elicitResult'>
  inputResponseRequestParams: { readonly "_meta": Of<'requestMetaObject'>; readonly "inputResponses"?: Of<'inputResponses'> | undefined; readonly "requestState"?: string | undefined }
  inputResponses: { readonly [key: string]: Of<'inputResponse'> }
  internalError: { readonly "code": -32603; readonly "data"?: Of<'jsonValue'> | undefined; readonly "message": string }
  invalidParamsError: { readonly "code": -32602; readonly "data"?: Of<'jsonValue'> | undefined; readonly "message": string }
  invalidRequestError: { readonly "code": -32600; readonly "data"?: Of<'jsonValue'> | undefined; readonly "message": string }
  jsonArray: readonly (Of<'jsonValue'>)[]
  jsonObject: { readonly [key: string]: Of<'jsonValue'> | undefined }
  rpcError: { readonly "error": Of<'wireError'>; readonly "id"?: Of<'requestId'> | undefined; readonly "jsonrpc": "2.0" }
  rpcMessage: Of<'rpcRequest'> | Of<'rpcNotification'> | Of<'rpcResult'> | Of<'rpcError'>
  rpcNotification: { readonly "jsonrpc": "2.0"; readonly "method": string; readonly "params"?: { readonly [key: string]: Of<'jsonValue'> | undefined } | undefined }
  rpcRequest: { readonly "id": Of<'requestId'>; readonly "jsonrpc": "2.0"; readonly "method": string; readonly "params"?: { readonly [key: string]: Of<'jsonValue'> | undefined } | undefined }
  rpcResponse: Of<'rpcResult'> | Of<'rpcError'>
  rpcResult: { readonly "id": Of<'requestId'>; readonly "jsonrpc": "2.0"; readonly "result": Of<'result'> }
  jsonValue: Of<'jsonObject'> | readonly (Of<'jsonValue'>)[] | string | number | boolean | number | null
  legacyTitledEnumSchema: { readonly "default"?: string | undefined; readonly "description"?: string | undefined; readonly "enum": readonly (string)[]; readonly "enumNames"?: readonly (string)[] | undefined; readonly "title"?: string | undefined; readonly "type": "string" }
  listPromptsRequest: { readonly "id": Of<'requestId'>; readonly "jsonrpc": "2.0"; readonly "method": "prompts/list"; readonly "params": Of<'paginatedRequestParams'> }
  listPromptsResult: { readonly "_meta"?: Of<'resultMetaObject'> | undefined; readonly "cacheScope": "private" | "public"; readonly "nextCursor"?: string | undefined; readonly "prompts": readonly (Of<'prompt'>)[]; readonly "resultType": Of<'resultType'>; readonly "ttlMs": number }
  listPromptsResultResponse: { readonly "id": Of<'requestId'>; readonly "jsonrpc": "2.0"; readonly "result": Of<'listPromptsResult'> }
  listResourceTemplatesRequest: { readonly "id": Of<'requestId'>; readonly "jsonrpc": "2.0"; readonly "method": "resources/templates/list"; readonly "params": Of<'paginatedRequestParams'> }
  listResourceTemplatesResult: { readonly "_meta"?: Of<'resultMetaObject'> | undefined; readonly "cacheScope": "private" | "public"; readonly "nextCursor"?: string | undefined; readonly "resourceTemplates": readonly (Of<'resourceTemplate'>)[]; readonly "resultType": Of<'resultType'>; readonly "ttlMs": number }
  listResourceTemplatesResultResponse: { readonly "id": Of<'requestId'>; readonly "jsonrpc": "2.0"; readonly "result": Of<'listResourceTemplatesResult'> }
  listResourcesRequest: { readonly "id": Of<'requestId'>; readonly "jsonrpc": "2.0"; readonly "method": "resources/list"; readonly "params": Of<'paginatedRequestParams'> }
  listResourcesResult: { readonly "_meta"?: Of<'resultMetaObject'> | undefined; readonly "cacheScope": "private" | "public"; readonly "nextCursor"?: string | undefined; readonly "resources": readonly (Of<'resource'>)[]; readonly "resultType": Of<'resultType'>; readonly "ttlMs": number }
  listResourcesResultResponse: { readonly "id": Of<'requestId'>; readonly "jsonrpc": "2.0"; readonly "result": Of<'listResourcesResult'> }
  listRootsRequest: { readonly "method": "roots/list"; readonly "params"?: { readonly "_meta"?: Of<'metaObject'> | undefined } | undefined }
  listRootsResult: { readonly "roots": readonly (Of<'root'>)[] }
  listToolsRequest: { readonly "id": Of<'requestId'>; readonly "jsonrpc": "2.0"; readonly "method": "tools/list"; readonly "params": Of<'paginatedRequestParams'> }
  listToolsResult: { readonly "_meta"?: Of<'resultMetaObject'> | undefined; readonly "cacheScope": "private" | "public"; readonly "nextCursor"?: string | undefined; readonly "resultType": Of<'resultType'>; readonly "tools": readonly (Of<'tool'>)[]; readonly "ttlMs": number }
  listToolsResultResponse: { readonly "id": Of<'requestId'>; readonly "jsonrpc": "2.0"; readonly "result": Of<'listToolsResult'> }
  loggingLevel: "alert" | "critical" | "debug" | "emergency" | "error" | "info" | "notice" | "warning"
  loggingMessageNotification: { readonly "jsonrpc": "2.0"; readonly "method": "notifications/message"; readonly "params": Of<'loggingMessageNotificationParams'> }
  loggingMessageNotificationParams: { readonly "_meta"?: Of<'notificationMetaObject'> | undefined; readonly "data": Of<'jsonValue'>; readonly "level": Of<'loggingLevel'>; readonly "logger"?: string | undefined }
  metaObject: Of<'jsonObject'>
  methodNotFoundError: { readonly "code": -32601; readonly "data"?: Of<'jsonValue'> | undefined; readonly "message": string }
  missingRequiredClientCapabilityError: { readonly "error": Of<'wireError'> & { readonly "code": -32021; readonly "data": { readonly "requiredCapabilities": Of<'clientCapabilities'> } }; readonly "id"?: Of<'requestId'> | undefined; readonly "jsonrpc": "2.0" }
  modelHint: { readonly "name"?: string | undefined }
  modelPreferences: { readonly "costPriority"?: number | undefined; readonly "hints"?: readonly (Of<'modelHint'>)[] | undefined; readonly "intelligencePriority"?: number | undefined; readonly "speedPriority"?: number | undefined }
  multiSelectEnumSchema: Of<'untitledMultiSelectEnumSchema'> | Of<'titledMultiSelectEnumSchema'>
  rpcNotificationFields: { readonly "method": string; readonly "params"?: { readonly [key: string]: Of<'jsonValue'> | undefined } | undefined }
  notificationMetaObject: { readonly "io.modelcontextprotocol/subscriptionId"?: Of<'requestId'> | undefined; readonly [key: string]: Of<'jsonValue'> | undefined }
  notificationParams: { readonly "_meta"?: Of<'notificationMetaObject'> | undefined }
  numberSchema: { readonly "default"?: number | undefined; readonly "description"?: string | undefined; readonly "maximum"?: number | undefined; readonly "minimum"?: number | undefined; readonly "title"?: string | undefined; readonly "type": "integer" | "number" }
  paginatedRequest: { readonly "id": Of<'requestId'>; readonly "jsonrpc": "2.0"; readonly "method": string; readonly "params": Of<'paginatedRequestParams'> }
  paginatedRequestParams: { readonly "_meta": Of<'requestMetaObject'>; readonly "cursor"?: string | undefined }
  paginatedResult: { readonly "_meta"?: Of<'resultMetaObject'> | undefined; readonly "nextCursor"?: string | undefined; readonly "resultType": Of<'resultType'> }
  parseError: { readonly "code": -32700; readonly "data"?: Of<'jsonValue'> | undefined; readonly "message": string }
  primitiveSchemaDefinition: Of<'stringSchema'> | Of<'numberSchema'> | Of<'booleanSchema'> | Of<'untitledSingleSelectEnumSchema'> | Of<'titledSingleSelectEnumSchema'> | Of<'untitledMultiSelectEnumSchema'> | Of<'titledMultiSelectEnumSchema'> | Of<'legacyTitledEnumSchema'>
  progressNotification: { readonly "jsonrpc": "2.0"; readonly "method": "notifications/progress"; readonly "params": Of<'progressNotificationParams'> }
  progressNotificationParams: { readonly "_meta"?: Of<'notificationMetaObject'> | undefined; readonly "message"?: string | undefined; readonly "progress": number; readonly "progressToken": Of<'progressToken'>; readonly "total"?: number | undefined }
  progressToken: string | number
  prompt: { readonly "_meta"?: Of<'metaObject'> | undefined; readonly "arguments"?: readonly (Of<'promptArgument'>)[] | undefined; readonly "description"?: string | undefined; readonly "icons"?: readonly (Of<'icon'>)[] | undefined; readonly "name": string; readonly "title"?: string | undefined }
  promptArgument: { readonly "description"?: string | undefined; readonly "name": string; readonly "required"?: boolean | undefined; readonly "title"?: string | undefined }
  promptListChangedNotification: { readonly "jsonrpc": "2.0"; readonly "method": "notifications/prompts/list_changed"; readonly "params"?: Of<'notificationParams'> | undefined }
  promptMessage: { readonly "content": Of<'contentBlock'>; readonly "role": Of<'role'> }
  promptReference: { readonly "name": string; readonly "title"?: string | undefined; readonly "type": "ref/prompt" }
  readResourceRequest: { readonly "id": Of<'requestId'>; readonly "jsonrpc": "2.0"; readonly "method": "resources/read"; readonly "params": Of<'readResourceRequestParams'> }
  readResourceRequestParams: { readonly "_meta": Of<'requestMetaObject'>; readonly "inputResponses"?: Of<'inputResponses'> | undefined; readonly "requestState"?: string | undefined; readonly "uri": string }
  readResourceResult: { readonly "_meta"?: Of<'resultMetaObject'> | undefined; readonly "cacheScope": "private" | "public"; readonly "contents": readonly (Of<'textResourceContents'> | Of<'blobResourceContents'>)[]; readonly "resultType": Of<'resultType'>; readonly "ttlMs": number }
  readResourceResultResponse: { readonly "id": Of<'requestId'>; readonly "jsonrpc": "2.0"; readonly "result": Of<'inputRequiredResult'> | Of<'readResourceResult'> }
  rpcRequestFields: { readonly "method": string; readonly "params"?: { readonly [key: string]: Of<'jsonValue'> | undefined } | undefined }
  requestId: string | number
  requestMetaObject: { readonly "io.modelcontextprotocol/clientCapabilities": Of<'clientCapabilities'>; readonly "io.modelcontextprotocol/clientInfo"?: Of<'implementation'> | undefined; readonly "io.modelcontextprotocol/logLevel"?: Of<'loggingLevel'> | undefined; readonly "io.modelcontextprotocol/protocolVersion": string; readonly "progressToken"?: Of<'progressToken'> | undefined; readonly [key: string]: Of<'jsonValue'> | undefined }
  requestParams: { readonly "_meta": Of<'requestMetaObject'> }
  resource: { readonly "_meta"?: Of<'metaObject'> | undefined; readonly "annotations"?: Of<'annotations'> | undefined; readonly "description"?: string | undefined; readonly "icons"?: readonly (Of<'icon'>)[] | undefined; readonly "mimeType"?: string | undefined; readonly "name": string; readonly "size"?: number | undefined; readonly "title"?: string | undefined; readonly "uri": string }
  resourceContents: { readonly "_meta"?: Of<'metaObject'> | undefined; readonly "mimeType"?: string | undefined; readonly "uri": string }
  resourceLink: { readonly "_meta"?: Of<'metaObject'> | undefined; readonly "annotations"?: Of<'annotations'> | undefined; readonly "description"?: string | undefined; readonly "icons"?: readonly (Of<'icon'>)[] | undefined; readonly "mimeType"?: string | undefined; readonly "name": string; readonly "size"?: number | undefined; readonly "title"?: string | undefined; readonly "type": "resource_link"; readonly "uri": string }
  resourceListChangedNotification: { readonly "jsonrpc": "2.0"; readonly "method": "notifications/resources/list_changed"; readonly "params"?: Of<'notificationParams'> | undefined }
  resourceRequestParams: { readonly "_meta": Of<'requestMetaObject'>; readonly "uri": string }
  resourceTemplate: { readonly "_meta"?: Of<'metaObject'> | undefined; readonly "annotations"?: Of<'annotations'> | undefined; readonly "description"?: string | undefined; readonly "icons"?: readonly (Of<'icon'>)[] | undefined; readonly "mimeType"?: string | undefined; readonly "name": string; readonly "title"?: string | undefined; readonly "uriTemplate": string }
  resourceTemplateReference: { readonly "type": "ref/resource"; readonly "uri": string }
  resourceUpdatedNotification: { readonly "jsonrpc": "2.0"; readonly "method": "notifications/resources/updated"; readonly "params": Of<'resourceUpdatedNotificationParams'> }
  resourceUpdatedNotificationParams: { readonly "_meta"?: Of<'notificationMetaObject'> | undefined; readonly "uri": string }
  result: { readonly "_meta"?: Of<'resultMetaObject'> | undefined; readonly "resultType": Of<'resultType'>; readonly [key: string]: Of<'jsonValue'> | undefined }
  resultMetaObject: { readonly "io.modelcontextprotocol/serverInfo"?: Of<'implementation'> | undefined; readonly [key: string]: Of<'jsonValue'> | undefined }
  resultType: string
  role: "assistant" | "user"
  root: { readonly "_meta"?: Of<'metaObject'> | undefined; readonly "name"?: string | undefined; readonly "uri": string }
  samplingMessage: { readonly "_meta"?: Of<'metaObject'> | undefined; readonly "content": Of<'textContent'> | Of<'imageContent'> | Of<'audioContent'> | Of<'toolUseContent'> | Of<'toolResultContent'> | readonly (Of<'samplingMessageContentBlock'>)[]; readonly "role": Of<'role'> }
  samplingMessageContentBlock: Of<'textContent'> | Of<'imageContent'> | Of<'audioContent'> | Of<'toolUseContent'> | Of<'toolResultContent'>
  serverCapabilities: { readonly "completions"?: Of<'jsonObject'> | undefined; readonly "experimental"?: { readonly [key: string]: Of<'jsonObject'> } | undefined; readonly "extensions"?: { readonly [key: string]: Of<'jsonObject'> } | undefined; readonly "logging"?: Of<'jsonObject'> | undefined; readonly "prompts"?: { readonly "listChanged"?: boolean | undefined } | undefined; readonly "resources"?: { readonly "listChanged"?: boolean | undefined; readonly "subscribe"?: boolean | undefined } | undefined; readonly "tools"?: { readonly "listChanged"?: boolean | undefined } | undefined }
  serverNotification: Of<'cancelledNotification'> | Of<'progressNotification'> | Of<'resourceListChangedNotification'> | Of<'subscriptionsAcknowledgedNotification'> | Of<'resourceUpdatedNotification'> | Of<'promptListChangedNotification'> | Of<'toolListChangedNotification'> | Of<'loggingMessageNotification'>
  serverResult: Of<'result'> | Of<'inputRequiredResult'> | Of<'discoverResult'> | Of<'listResourcesResult'> | Of<'listResourceTemplatesResult'> | Of<'readResourceResult'> | Of<'subscriptionsListenResult'> | Of<'listPromptsResult'> | Of<'getPromptResult'> | Of<'listToolsResult'> | Of<'callToolResult'> | Of<'completeResult'>
  singleSelectEnumSchema: Of<'untitledSingleSelectEnumSchema'> | Of<'titledSingleSelectEnumSchema'>
  stringSchema: { readonly "default"?: string | undefined; readonly "description"?: string | undefined; readonly "format"?: "date" | "date-time" | "email" | "uri" | undefined; readonly "maxLength"?: number | undefined; readonly "minLength"?: number | undefined; readonly "title"?: string | undefined; readonly "type": "string" }
  subscriptionFilter: { readonly "promptsListChanged"?: boolean | undefined; readonly "resourceSubscriptions"?: readonly (string)[] | undefined; readonly "resourcesListChanged"?: boolean | undefined; readonly "toolsListChanged"?: boolean | undefined }
  subscriptionsAcknowledgedNotification: { readonly "jsonrpc": "2.0"; readonly "method": "notifications/subscriptions/acknowledged"; readonly "params": Of<'subscriptionsAcknowledgedNotificationParams'> }
  subscriptionsAcknowledgedNotificationParams: { readonly "_meta"?: Of<'notificationMetaObject'> | undefined; readonly "notifications": Of<'subscriptionFilter'> }
  subscriptionsListenRequest: { readonly "id": Of<'requestId'>; readonly "jsonrpc": "2.0"; readonly "method": "subscriptions/listen"; readonly "params": Of<'subscriptionsListenRequestParams'> }
  subscriptionsListenRequestParams: { readonly "_meta": Of<'requestMetaObject'>; readonly "notifications": Of<'subscriptionFilter'> }
  subscriptionsListenResult: { readonly "_meta": Of<'subscriptionsListenResultMetaObject'>; readonly "resultType": Of<'resultType'> }
  subscriptionsListenResultMetaObject: { readonly "io.modelcontextprotocol/serverInfo"?: Of<'implementation'> | undefined; readonly "io.modelcontextprotocol/subscriptionId": Of<'requestId'>; readonly [key: string]: Of<'jsonValue'> | undefined }
  subscriptionsListenResultResponse: { readonly "id": Of<'requestId'>; readonly "jsonrpc": "2.0"; readonly "result": Of<'subscriptionsListenResult'> }
  textContent: { readonly "_meta"?: Of<'metaObject'> | undefined; readonly "annotations"?: Of<'annotations'> | undefined; readonly "text": string; readonly "type": "text" }
  textResourceContents: { readonly "_meta"?: Of<'metaObject'> | undefined; readonly "mimeType"?: string | undefined; readonly "text": string; readonly "uri": string }
  titledMultiSelectEnumSchema: { readonly "default"?: readonly (string)[] | undefined; readonly "description"?: string | undefined; readonly "items": { readonly "anyOf": readonly ({ readonly "const": string; readonly "title": string })[] }; readonly "maxItems"?: number | undefined; readonly "minItems"?: number | undefined; readonly "title"?: string | undefined; readonly "type": "array" }
  titledSingleSelectEnumSchema: { readonly "default"?: string | undefined; readonly "description"?: string | undefined; readonly "oneOf": readonly ({ readonly "const": string; readonly "title": string })[]; readonly "title"?: string | undefined; readonly "type": "string" }
  tool: { readonly "_meta"?: Of<'metaObject'> | undefined; readonly "annotations"?: Of<'toolAnnotations'> | undefined; readonly "description"?: string | undefined; readonly "icons"?: readonly (Of<'icon'>)[] | undefined; readonly "inputSchema": { readonly "$schema"?: string | undefined; readonly "type": "object"; readonly [key: string]: Of<'jsonValue'> | undefined }; readonly "name": string; readonly "outputSchema"?: { readonly "$schema"?: string | undefined; readonly [key: string]: Of<'jsonValue'> | undefined } | undefined; readonly "title"?: string | undefined }
  toolAnnotations: { readonly "destructiveHint"?: boolean | undefined; readonly "idempotentHint"?: boolean | undefined; readonly "openWorldHint"?: boolean | undefined; readonly "readOnlyHint"?: boolean | undefined; readonly "title"?: string | undefined }
  toolChoice: { readonly "mode"?: "auto" | "none" | "required" | undefined }
  toolListChangedNotification: { readonly "jsonrpc": "2.0"; readonly "method": "notifications/tools/list_changed"; readonly "params"?: Of<'notificationParams'> | undefined }
  toolResultContent: { readonly "_meta"?: Of<'metaObject'> | undefined; readonly "content": readonly (Of<'contentBlock'>)[]; readonly "isError"?: boolean | undefined; readonly "structuredContent"?: Of<'jsonValue'> | undefined; readonly "toolUseId": string; readonly "type": "tool_result" }
  toolUseContent: { readonly "_meta"?: Of<'metaObject'> | undefined; readonly "id": string; readonly "input": { readonly [key: string]: Of<'jsonValue'> | undefined }; readonly "name": string; readonly "type": "tool_use" }
  unsupportedProtocolVersionError: { readonly "error": Of<'wireError'> & { readonly "code": -32022; readonly "data": { readonly "requested": string; readonly "supported": readonly (string)[] } }; readonly "id"?: Of<'requestId'> | undefined; readonly "jsonrpc": "2.0" }
  untitledMultiSelectEnumSchema: { readonly "default"?: readonly (string)[] | undefined; readonly "description"?: string | undefined; readonly "items": { readonly "enum": readonly (string)[]; readonly "type": "string" }; readonly "maxItems"?: number | undefined; readonly "minItems"?: number | undefined; readonly "title"?: string | undefined; readonly "type": "array" }
  untitledSingleSelectEnumSchema: { readonly "default"?: string | undefined; readonly "description"?: string | undefined; readonly "enum": readonly (string)[]; readonly "title"?: string | undefined; readonly "type": "string" }
}
