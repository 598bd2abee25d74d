import { createCall } from '@x/exchange'
import { type RpcRequest, type RpcResponse, metaKeys } from '@x/schema'
import type { HttpConnection } from '@x/transport-http/client'

let lastRequestId = 0

export function callTool(connection: HttpConnection, name = 'greet', signal?: AbortSignal): Promise<RpcResponse> {
  lastRequestId += 1
  const _meta = { [metaKeys.protocolVersion]: '2026-07-28', [metaKeys.clientCapabilities]: {} }
  const request: RpcRequest = { jsonrpc: '2.0', id: lastRequestId, method: 'tools/call', params: { name, _meta } }
  return connection.exchange(request, createCall({ signal }))
}
