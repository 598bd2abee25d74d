import { type JsonObject, metaKeys, protocolVersion, type RequestId, type RpcRequest } from '@x/schema'

/** One that every server accepts. */
export function createRequest(
  id: RequestId,
  method = 'tools/list',
  { meta = {}, ...params }: JsonObject & { meta?: JsonObject } = {},
): RpcRequest {
  const _meta = { [metaKeys.protocolVersion]: protocolVersion, [metaKeys.clientCapabilities]: {}, ...meta }
  return { jsonrpc: '2.0', id, method, params: { ...params, _meta } }
}

export function cancel(requestId: unknown, reason?: string): object {
  return { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId, reason } }
}
