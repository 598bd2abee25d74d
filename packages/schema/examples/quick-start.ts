import { encodeMessage, errorCodes, errorResponse, isRequest, McpError, parseMessage } from '@x/schema'
import type { RpcRequest, RpcResponse } from '@x/schema'
import { shapes, zodOf } from '@x/schema/zod'
import * as z from 'zod'

// @x/server creates such a function from definitions, transports carry its messages, and @x/client calls it.
function greet(request: RpcRequest): RpcResponse {
  if (request.method !== 'tools/call') {
    return errorResponse(request.id, new McpError(errorCodes.methodNotFound, 'The only method here is tools/call'))
  }
  const params = zodOf(shapes.callToolRequestParams).safeParse(request.params)
  if (!params.success) {
    return errorResponse(request.id, new McpError(errorCodes.invalidParams, z.prettifyError(params.error)))
  }
  const text = `Hello, ${params.data.arguments?.['name']}!`
  return { jsonrpc: '2.0', id: request.id, result: { resultType: 'complete', content: [{ type: 'text', text }] } }
}

const message = parseMessage(`{
  "jsonrpc": "2.0", "id": 1, "method": "tools/call",
  "params": {
    "name": "greet", "arguments": { "name": "Ada" },
    "_meta": {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {}
    }
  }
}`)
if (isRequest(message)) console.log(encodeMessage(greet(message)))
