import { createCall, type Exchange, withContext } from '@x/exchange'
import { errorCodes, isJsonObject, type JsonObject, type RpcResponse } from '@x/schema'
import { restoredPartsKey } from '@x/exchange/internal'
import type { RunnableCall } from '../task-payload.ts'
import type { Attempt } from './attempt.ts'
import type { MissingCapability } from './requeue.ts'

/**
 * Finds the capability that the server lacks, if the response shows that it lacks the tool of the call or has no tools
 * at all. Undefined for every other response.
 */
export async function findUnmetCapability(
  response: RpcResponse,
  runnableCall: RunnableCall,
  { signal, context }: Pick<Attempt, 'signal' | 'context'>,
): Promise<MissingCapability | undefined> {
  if (!('error' in response)) return undefined
  const { code } = response.error
  // A handler may throw the same error codes as a server that lacks the tool, so `hasTool` decides.
  if (code !== errorCodes.invalidParams && code !== errorCodes.methodNotFound) return undefined
  if (await hasTool(runnableCall, signal, context.innerExchange)) return undefined
  const tool = JSON.stringify(runnableCall.params['name'])
  return {
    code: errorCodes.invalidParams,
    description: `the tool ${tool}: it was removed, or hidden from its caller`,
  }
}

/** Pages that are read at most. After that the tool counts as present. */
const maxPages = 1000

/** True if the server lists the tool for the caller of a task. */
export async function hasTool(
  { params, principal, extensionRecords }: RunnableCall,
  signal: AbortSignal,
  innerExchange: Exchange,
): Promise<boolean> {
  const { name, _meta = {} } = params
  const call = withContext(createCall({ signal, principal }), restoredPartsKey, extensionRecords)
  let cursorParams: JsonObject = {}
  for (let page = 0; page < maxPages; page++) {
    const request = {
      jsonrpc: '2.0',
      id: `page-${page}`,
      method: 'tools/list',
      params: { ...cursorParams, _meta },
    } as const
    const listResponse = await innerExchange(request, call)
    if ('error' in listResponse) return listResponse.error.code !== errorCodes.methodNotFound
    const { tools, nextCursor } = listResponse.result
    if (Array.isArray(tools) && tools.some((tool) => isJsonObject(tool) && tool['name'] === name)) return true
    if (typeof nextCursor !== 'string') return false
    cursorParams = { cursor: nextCursor }
  }
  return true
}
