import {
  type CallToolRequestParams,
  checkMirrored,
  errorCodes,
  headerParamsKey,
  type JsonObject,
  McpError,
  type PaginatedRequestParams,
} from '@x/schema'
import { after, type Awaitable, isPromiseLike } from '../request/awaitable.ts'
import type { CompiledTool } from '../catalog.ts'
import type { Context } from '../request/context.ts'
import { openRequestContext } from '../request/open-context.ts'
import type { TaskChoice } from '../replay/task-choice.ts'
import { replay } from '../replay/replay.ts'
import { findVisible, readPage } from '../pages.ts'
import { quote, requireCapabilities, type Scope } from '../request/scope.ts'
import { failedTool, finishTool, rejectedArguments } from './tool-results.ts'

const noArguments: JsonObject = Object.freeze({})

/** A page of the tools that the caller may use (server/tools, listing tools). */
export function listTools({ cursor }: PaginatedRequestParams, { catalog, call }: Scope): JsonObject {
  return readPage(catalog.tools, cursor, call)
}

/**
 * Calls a tool (server/tools, calling tools). A tool that is unknown, or hidden from the caller, is an error of the
 * protocol; arguments that its schema refuses and errors that it throws are results, so that the model can read them.
 */
export function callTool(params: CallToolRequestParams, scope: Scope): Awaitable<JsonObject> {
  const { catalog, call } = scope
  const tool = findVisible(catalog.tools, params.name, call)
  if (tool === undefined) throw new McpError(errorCodes.invalidParams, `Unknown tool: ${quote(params.name)}`)
  requireCapabilities(tool.requires, scope)
  const given = params.arguments ?? noArguments
  const headerParams = call.context.get(headerParamsKey)
  if (headerParams !== undefined) checkMirrored(tool.mirrored, given, headerParams)
  try {
    const result = after(tool.input(given), (checked) =>
      checked.issues === undefined ? run(tool, checked.value, scope) : rejectedArguments(tool, checked, scope),
    )
    return isPromiseLike(result) ? result.then(undefined, (error: unknown) => failedTool(error, tool, scope)) : result
  } catch (error) {
    return failedTool(error, tool, scope)
  }
}

function taskChoice({ definition: { task } }: CompiledTool, args: unknown, scope: Scope): TaskChoice | undefined {
  // The tool's own schema has just made the arguments what its functions take.
  return typeof task === 'function' ? task(args as never, openRequestContext(scope)) : task
}

function run(tool: CompiledTool, args: unknown, scope: Scope): Awaitable<JsonObject> {
  const handler = {
    name: tool.key,
    run: (ctx: Context) => tool.definition.run(args, ctx),
    finish: (returned: unknown) => finishTool(returned, tool, scope),
    task: tool.definition.task && taskChoice(tool, args, scope),
    hasEffects: tool.definition.annotations?.readOnlyHint !== true,
  }
  return replay(handler, scope)
}
