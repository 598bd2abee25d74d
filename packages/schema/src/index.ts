export { type ErrorCode, errorCodes, legacyResourceNotFound } from './basic/error-codes.ts'
export type { Call, Exchange, MirroredHeaders, Principal } from './basic/exchange.ts'
export { isJsonObject, type JsonArray, type JsonObject, type JsonValue } from './basic/json.ts'
export { errorResponse, isMcpError, McpError, toWire } from './basic/mcp-error.ts'
export { metaKeys } from './basic/meta-keys.ts'
export { protocolVersion, protocolVersions } from './basic/revision.ts'
export type {
  RequestId,
  RpcError,
  RpcMessage,
  RpcNotification,
  RpcRequest,
  RpcResponse,
  RpcResult,
  WireError,
} from './basic/rpc.ts'
