import type { Exchange, RpcRequest, RpcResponse } from '@x/schema'

/** A request to the server, and its response. */
export interface Messages {
  readonly request: RpcRequest
  readonly response: RpcResponse
}

/** An exchange that keeps its last messages. */
export interface RecordedExchange {
  readonly exchange: Exchange
  /** Returns the messages of the last call of a tool. */
  last(tool: string): Messages | undefined
}

/** Keeps the messages of the last `tools/call`, which the page shows with the round. */
export function recordMessages(exchange: Exchange): RecordedExchange {
  let last: Messages | undefined
  return {
    exchange: async (request, call) => {
      const response = await exchange(request, call)
      if (request.method === 'tools/call') last = { request, response }
      return response
    },
    last: (tool) => (last?.request.params?.['name'] === tool ? last : undefined),
  }
}
