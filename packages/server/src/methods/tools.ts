import { isCancelled, quoteName, stringifyWellFormed } from '@x/core'
import { headerParamsKey } from '@x/exchange'
import {
  type CallToolRequestParams,
  checkHeaderParams,
  errorCodes,
  type JsonObject,
  McpError,
  type PaginatedRequestParams,
  type CallToolResult,
  type ContentBlock,
  isJsonObject,
  isMcpError,
  type JsonValue,
} from '@x/schema'
import { mapAwaitable, type Awaitable, isPromiseLike } from '../request/awaitable.ts'
import { type CompiledTool, mergeResultMeta, findVisibleEntry, readPage } from '../compile/catalog.ts'
import { type Context, type TaskChoice, isInputDeclined } from '../definitions/context.ts'
import { isUnanswered } from '../replay/ask-client.ts'
import { openRequestContext } from '../replay/open-context.ts'
import { replayCall } from '../replay/replay.ts'
import { reportServerError, logContextOf } from '../request/report.ts'
import { requireCapabilities, type ServedRequest } from '../replay/served-request.ts'
import { formatIssues, type RejectedValue } from '../json-schema/rejected-value.ts'
import { isFullToolResult, type ToolContent, isToolError } from '../definitions/tool.ts'

const noArguments: JsonObject = Object.freeze({})

/** Returns a page of the tools that the caller may use (server/tools, listing tools). */
export function listTools({ cursor }: PaginatedRequestParams, { catalog, call }: ServedRequest): JsonObject {
  return readPage(catalog.tools, cursor, call)
}

/**
 * Calls a tool (server/tools, calling tools). A tool that is unknown or hidden from the caller causes a protocol error.
 * Arguments that the tool's schema rejects and errors that the tool throws become results, so that the model can read
 * them.
 */
export function callTool(params: CallToolRequestParams, request: ServedRequest): Awaitable<JsonObject> {
  const { catalog, call } = request
  const tool = findVisibleEntry(catalog.tools, params.name, call)
  if (tool === undefined) throw new McpError(errorCodes.invalidParams, `Unknown tool: ${quoteName(params.name)}`)
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

/** Returns the tool's choice whether its call becomes a task. Returns undefined if the call already runs as a task. */
function taskChoiceOf(
  { definition: { task } }: CompiledTool,
  args: unknown,
  request: ServedRequest,
): TaskChoice | undefined {
  if (request.journalStore !== undefined) return undefined
  // The cast is safe, because the tool's schema has just accepted the arguments.
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

/**
 * Converts the return value of a tool into a result. Structured content that the output schema rejects is not sent. The
 * reason is logged, and the model receives only that the tool failed (server/tools, output schema).
 */
function toToolResult(toolReturn: unknown, tool: CompiledTool, request: ServedRequest): Awaitable<CallToolResult> {
  const { checkOutput } = tool
  if (checkOutput === undefined) return toPlainResult(toolReturn, tool, request)
  const toolContent: Partial<ToolContent> = isFullToolResult(toolReturn) ? toolReturn : {}
  const structuredValue = isFullToolResult(toolReturn) ? toolReturn.structuredContent : toolReturn
  // A failed call may omit structured content. Every other result of a tool with an output schema must have it.
  if (toolContent.isError === true && structuredValue === undefined)
    return createToolResult(toolContent, undefined, request)
  return mapAwaitable(checkOutput(structuredValue), (checkedOutput) => {
    if (checkedOutput.issues === undefined)
      return createStructuredResult(toolContent, checkedOutput.value, { tool, request })
    return rejectUnusableReturn(`breaks its output schema:\n${formatIssues(checkedOutput)}`, tool, request)
  })
}

function toPlainResult(toolReturn: unknown, tool: CompiledTool, request: ServedRequest): CallToolResult {
  if (typeof toolReturn === 'string') return createToolResult({ content: [textBlock(toolReturn)] }, undefined, request)
  if (!isToolContent(toolReturn)) {
    return rejectUnusableReturn(
      'is neither text nor { content: [...] }; declare output to return structured content',
      tool,
      request,
    )
  }
  if (toolReturn.structuredContent === undefined) return createToolResult(toolReturn, undefined, request)
  return createStructuredResult(toolReturn, toolReturn.structuredContent, { tool, request })
}

function isToolContent(value: unknown): value is Partial<ToolContent> {
  return isFullToolResult(value) || (isJsonObject(value) && Array.isArray(value['content']))
}

/** Repeats structured content as text, for clients that read only text (server/tools, structured content). */
function createStructuredResult(
  toolContent: Partial<ToolContent>,
  value: unknown,
  { tool, request }: { tool: CompiledTool; request: ServedRequest },
): CallToolResult {
  let text: string | undefined
  try {
    text = stringifyWellFormed(value)
  } catch (cause) {
    return rejectUnusableReturn(
      `is not JSON: ${cause instanceof Error ? cause.message : 'it cannot be written'}`,
      tool,
      request,
    )
  }
  if (text === undefined) return rejectUnusableReturn(`is not JSON but ${typeof value}`, tool, request)
  const content = toolContent.content ?? [textBlock(text)]
  // The cast is safe, because `JSON.stringify` has just accepted the value.
  return createToolResult({ ...toolContent, content }, value as JsonValue, request)
}

function createToolResult(
  { content = [], isError, _meta }: Partial<ToolContent>,
  structuredContent: JsonValue | undefined,
  { catalog }: ServedRequest,
): CallToolResult {
  const meta = mergeResultMeta(_meta, catalog)
  return {
    resultType: 'complete',
    content,
    ...(structuredContent !== undefined && { structuredContent }),
    ...(isError === true && { isError }),
    ...(meta && { _meta: meta }),
  }
}

/**
 * Returns a result that names each invalid argument, so that the model can correct them (server/tools, error handling).
 */
function createInvalidArgumentsResult(
  tool: CompiledTool,
  rejectedValue: RejectedValue,
  request: ServedRequest,
): CallToolResult {
  return createErrorResult(
    `Invalid arguments for tool ${quoteName(tool.key)}:\n${formatIssues(rejectedValue)}`,
    request,
  )
}

/**
 * Converts a thrown error into a result that the model reads. Rethrows an `McpError`, and any error of a cancelled
 * call. The model receives the message of an `InputDeclined`, of a question without a valid answer, and of a
 * `ToolError`. Any other error is logged, and the model
 * receives only that the tool failed.
 */
function handleToolError(error: unknown, tool: CompiledTool, request: ServedRequest): CallToolResult {
  if (isCancelled(request.call)) throw error
  if (isInputDeclined(error) || isToolError(error) || isUnanswered(error))
    return createErrorResult(error.message, request)
  if (isMcpError(error)) throw error
  reportServerError(error, logContextOf(request, tool.key), request.settings)
  // The error's message may contain a connection string or a path, so it is only logged.
  return createErrorResult(`Tool ${quoteName(tool.key)} failed`, request)
}

function rejectUnusableReturn(reason: string, tool: CompiledTool, request: ServedRequest): CallToolResult {
  const error = new Error(`What tool ${quoteName(tool.key)} returned ${reason}`)
  reportServerError(error, logContextOf(request, tool.key), request.settings)
  return createErrorResult(`Tool ${quoteName(tool.key)} failed`, request)
}

function createErrorResult(text: string, request: ServedRequest): CallToolResult {
  return createToolResult({ content: [textBlock(text)], isError: true }, undefined, request)
}

function textBlock(text: string): ContentBlock {
  return { type: 'text', text }
}
