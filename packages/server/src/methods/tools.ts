import { quoteText, isPromiseLike } from '@x/core'
import { headerParamsKey } from '@x/exchange'
import { type CallToolRequestParams, checkHeaderParams, errorCodes, type JsonObject, McpError } from '@x/schema'
import { mapAwaitable, type Awaitable } from '../request/awaitable.ts'
import { type CompiledTool, findVisibleEntry } from '../compile/catalog.ts'
import type { Context, TaskChoice } from '../definitions/context.ts'
import { openRequestContext } from '../replay/open-context.ts'
import { replayCall } from '../replay/replay.ts'
import { requireCapabilities, type ServedRequest } from '../replay/served-request.ts'
import { createInvalidArgumentsResult, handleToolError, toToolResult } from './tool-result.ts'

const noArguments: JsonObject = Object.freeze({})

/**
 * Calls a tool (server/tools, calling tools). One that is unknown or hidden from the caller is a protocol error.
 * Arguments that the schema rejects and errors that the tool throws become results, so that the model can read them.
 */
export function callTool(params: CallToolRequestParams, request: ServedRequest): Awaitable<JsonObject> {
  const { catalog, call } = request
  const tool = findVisibleEntry(catalog.tools, params.name, call)
  if (tool === undefined) {
    const message = `Unknown tool: ${quoteText(params.name)}`
    throw new McpError(errorCodes.invalidParams, message, { data: { begun: false } })
  }
  if (tool.requires !== undefined) requireCapabilities(tool.requires, request)
  const toolArguments = params.arguments ?? noArguments
  const headerParams = call.context.get(headerParamsKey)
  if (headerParams !== undefined) checkHeaderParams(tool.headerParams, toolArguments, headerParams)
  try {
    const result = mapAwaitable(tool.checkInput(toolArguments), (checkedArguments) =>
      checkedArguments.issues === undefined
        ? runTool(tool, checkedArguments.value, request)
        : createInvalidArgumentsResult(tool, checkedArguments, request),
    )
    return isPromiseLike(result)
      ? result.then(undefined, (error: unknown) => handleToolError(error, tool, request))
      : result
  } catch (error) {
    return handleToolError(error, tool, request)
  }
}

function taskChoiceOf(
  { definition: { task } }: CompiledTool,
  args: unknown,
  request: ServedRequest,
): TaskChoice | undefined {
  if (request.journalStore !== undefined) return undefined
  // The cast is safe: the tool's schema has just accepted the arguments.
  return typeof task === 'function' ? task(args as never, openRequestContext(request)) : task
}

function runTool(tool: CompiledTool, args: unknown, request: ServedRequest): Awaitable<JsonObject> {
  const handler = {
    name: tool.key,
    run: (ctx: Context) => tool.definition.run(args, ctx),
    toResult: (toolReturn: unknown) => toToolResult(toolReturn, tool, request),
    task: tool.definition.task && taskChoiceOf(tool, args, request),
    hasEffects: tool.definition.annotations?.readOnlyHint !== true,
  }
  return replayCall(handler, request)
}
