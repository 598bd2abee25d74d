import { type Call, errorCodes, isJsonObject, type JsonObject, type RpcResponse } from '@x/schema'
import type { TaskWork } from '../payload.ts'
import type { TaskContext } from '../task-context.ts'
import type { Unserved } from './leave-to-others.ts'

/** A call that was made for a task. */
export interface MadeCall {
  readonly work: TaskWork
  readonly signal: AbortSignal
}

/** What a response says that the server inside lacks: the tool of the call, or all of them. Undefined for every other response. */
export async function lackOf(
  response: RpcResponse,
  made: MadeCall,
  context: TaskContext,
): Promise<Unserved | undefined> {
  if (!('error' in response)) return undefined
  const { code } = response.error
  // A handler may refuse with the codes of a server without the tool, or without any.
  if (code !== errorCodes.invalidParams && code !== errorCodes.methodNotFound) return undefined
  if (await hasTool(made, context)) return undefined
  const tool = JSON.stringify(made.work.params['name'])
  return { code: errorCodes.invalidParams, what: `the tool ${tool}: it was taken away, or hidden from its caller` }
}

/** How many pages are read before the tool is taken for one that is there. */
const mostPages = 1000

/** Whether the server inside lists the tool for the caller of a task. */
async function hasTool({ work, signal }: MadeCall, { exchange }: TaskContext): Promise<boolean> {
  const { name, _meta = {} } = work.params
  const call: Call = { signal, principal: work.principal, movable: false, notify: () => {} }
  let cursor: JsonObject = {}
  for (let page = 0; page < mostPages; page++) {
    const request = { jsonrpc: '2.0', id: `page-${page}`, method: 'tools/list', params: { ...cursor, _meta } } as const
    const listed = await exchange(request, call)
    if ('error' in listed) return listed.error.code !== errorCodes.methodNotFound
    const { tools, nextCursor } = listed.result
    if (Array.isArray(tools) && tools.some((tool) => isJsonObject(tool) && tool['name'] === name)) return true
    if (typeof nextCursor !== 'string') return false
    cursor = { cursor: nextCursor }
  }
  return true
}
