import {
  type CallToolRequestParams,
  checkHeaderParam,
  errorCodes,
  headerParamsKey,
  type JsonObject,
  McpError,
  type PaginatedRequestParams,
} from '@x/schema'
import { after, type Awaitable, isPromiseLike } from '../request/awaitable.ts'
import type { CompiledTool } from '../compile/catalog.ts'
import type { Context } from '../definitions/context.ts'
import { openRequestContext } from '../replay/open-context.ts'
import type { TaskChoice } from '../definitions/task-choice.ts'
import { replay } from '../replay/replay.ts'
import { findVisible, readPage } from '../compile/pages.ts'
import { quote, requireCapabilities, type RequestState } from '../replay/served-request.ts'
import { failedTool, finishTool, rejectedArguments } from './tool-results.ts'

const noArguments: JsonObject = Object.freeze({})

/** A page of the tools that the caller may use (server/tools, listing tools). */
export function listTools({ cursor }: PaginatedRequestParams, { catalog, call }: RequestState): JsonObject {
  return readPage(catalog.tools, cursor, call)
}

/**
 * Calls a tool (server/tools, calling tools). A tool that is unknown, or hidden from the caller, is an error of the
 * protocol; arguments that its schema refuses and errors that it throws are results, so that the model can read them.
 */
export function callTool(params: CallToolRequestParams, request: RequestState): Awaitable<JsonObject> {
  const { catalog, call } = request
  const tool = findVisible(catalog.tools, params.name, call)
  if (tool === undefined) throw new McpError(errorCodes.invalidParams, `Unknown tool: ${quote(params.name)}`)
  requireCapabilities(tool.requires, request)
  const given = params.arguments ?? noArguments
  const headerParams = call.context.get(headerParamsKey)
  if (headerParams !== undefined) checkHeaderParam(tool.mirrored, given, headerParams)
  try {
    const result = after(tool.input(given), (checked) =>
      checked.issues === undefined ? run(tool, checked.value, request) : rejectedArguments(tool, checked, request),
    )
    return isPromiseLike(result) ? result.then(undefined, (error: unknown) => failedTool(error, tool, request)) : result
  } catch (error) {
    return failedTool(error, tool, request)
  }
}

function taskChoice(
  { definition: { task } }: CompiledTool,
  args: unknown,
  request: RequestState,
): TaskChoice | undefined {
  // The tool's own schema has just made the arguments what its functions take.
  return typeof task === 'function' ? task(args as never, openRequestContext(request)) : task
}

function run(tool: CompiledTool, args: unknown, request: RequestState): Awaitable<JsonObject> {
  const handler = {
    name: tool.key,
    run: (ctx: Context) => tool.definition.run(args, ctx),
    finish: (returned: unknown) => finishTool(returned, tool, request),
    task: tool.definition.task && taskChoice(tool, args, request),
    hasEffects: tool.definition.annotations?.readOnlyHint !== true,
  }
  return replay(handler, request)
}
