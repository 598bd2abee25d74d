import {
  type CallToolRequestParams,
  type CallToolResult,
  checkMirrored,
  type ContentBlock,
  errorCodes,
  isJsonObject,
  isMcpError,
  type JsonObject,
  type JsonValue,
  McpError,
  type PaginatedRequestParams,
  type SchemaIssue,
} from '@x/schema'
import { after, type Awaitable, isPromiseLike } from '../awaitable.ts'
import { type CompiledTool, resultMeta } from '../catalog.ts'
import { openContext } from '../open-context.ts'
import { issueLines } from '../issues.ts'
import { findVisible, readPage } from '../pages.ts'
import { quote, report, requireCapabilities, type Scope } from '../scope.ts'
import { isFullToolResult, type ToolContent } from '../tool.ts'

const noArguments: JsonObject = Object.freeze({})

/** A page of the tools that the caller may use (server/tools, listing tools). */
export function listTools({ cursor }: PaginatedRequestParams, { catalog, call }: Scope): JsonObject {
  return readPage(catalog.tools, cursor, call.principal)
}

/**
 * Calls a tool (server/tools, calling tools). A tool that is unknown, or hidden from the caller, is an error of the
 * protocol; arguments that its schema refuses and errors that it throws are results, so that the model can read them.
 */
export function callTool(params: CallToolRequestParams, scope: Scope): Awaitable<CallToolResult> {
  const { catalog, call } = scope
  const tool = findVisible(catalog.tools, params.name, call.principal)
  if (tool === undefined) throw new McpError(errorCodes.invalidParams, `Unknown tool: ${quote(params.name)}`)
  requireCapabilities(tool.requires, scope)
  const given = params.arguments ?? noArguments
  if (call.mirrored !== undefined) checkMirrored(tool.mirrored, given, call.mirrored)
  try {
    const result = after(tool.input(given), (checked) =>
      checked.issues === undefined ? run(tool, checked.value, scope) : refuse(tool, checked.issues, scope),
    )
    return isPromiseLike(result) ? result.then(undefined, (error: unknown) => failed(error, tool, scope)) : result
  } catch (error) {
    return failed(error, tool, scope)
  }
}

function run(tool: CompiledTool, args: unknown, scope: Scope): Awaitable<CallToolResult> {
  return after(tool.definition.run(args, openContext(scope)), (returned) => finish(returned, tool, scope))
}

/**
 * What was returned, as a result. Structured content that the output schema refuses never leaves the server: the author
 * is told what was wrong with it, and the model only that the tool failed (server/tools, output schema).
 */
function finish(returned: unknown, tool: CompiledTool, scope: Scope): Awaitable<CallToolResult> {
  const { output } = tool
  if (output === undefined) return plain(returned, tool, scope)
  const given: Partial<ToolContent> = isFullToolResult(returned) ? returned : {}
  const structured = isFullToolResult(returned) ? returned.structuredContent : returned
  // A failure has nothing to structure; whatever else says it is a result must have what the schema promises.
  if (given.isError === true && structured === undefined) return resultOf(given, undefined, scope)
  return after(output(structured), (checked) => {
    if (checked.issues === undefined) return withStructured(given, checked.value, { tool, scope })
    return unusable(`breaks its output schema:\n${issueLines(checked.issues)}`, tool, scope)
  })
}

function plain(returned: unknown, tool: CompiledTool, scope: Scope): CallToolResult {
  if (typeof returned === 'string') return resultOf({ content: [textBlock(returned)] }, undefined, scope)
  if (!isToolContent(returned)) {
    return unusable('is neither text nor { content: [...] }; declare output to return structured content', tool, scope)
  }
  if (returned.structuredContent === undefined) return resultOf(returned, undefined, scope)
  return withStructured(returned, returned.structuredContent, { tool, scope })
}

function isToolContent(value: unknown): value is Partial<ToolContent> {
  return isFullToolResult(value) || (isJsonObject(value) && Array.isArray(value['content']))
}

/** Structured content stands once more as text, for clients that read only that (server/tools, structured content). */
function withStructured(
  given: Partial<ToolContent>,
  value: unknown,
  { tool, scope }: { tool: CompiledTool; scope: Scope },
): CallToolResult {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (cause) {
    return unusable(`is not JSON: ${cause instanceof Error ? cause.message : 'it cannot be written'}`, tool, scope)
  }
  if (text === undefined) return unusable(`is not JSON but ${typeof value}`, tool, scope)
  const content = given.content ?? [textBlock(text)]
  // JSON.stringify has just shown that it can be sent.
  return resultOf({ ...given, content }, value as JsonValue, scope)
}

function resultOf(
  { content = [], isError, _meta }: Partial<ToolContent>,
  structuredContent: JsonValue | undefined,
  { catalog }: Scope,
): CallToolResult {
  const meta = resultMeta(_meta, catalog)
  return {
    resultType: 'complete',
    content,
    ...(structuredContent !== undefined && { structuredContent }),
    ...(isError === true && { isError }),
    ...(meta && { _meta: meta }),
  }
}

/** Names each fault, so that the model can put it right (server/tools, error handling). */
function refuse(tool: CompiledTool, issues: readonly SchemaIssue[], scope: Scope): CallToolResult {
  return failure(`Invalid arguments for tool ${quote(tool.key)}:\n${issueLines(issues)}`, scope)
}

function failed(error: unknown, tool: CompiledTool, scope: Scope): CallToolResult {
  if (isMcpError(error) || scope.call.signal.aborted) throw error
  const where = { method: scope.method, name: tool.key }
  report(error, where, scope.settings)
  return failure(scope.settings.describeError(error, where), scope)
}

function unusable(reason: string, tool: CompiledTool, scope: Scope): CallToolResult {
  const where = { method: scope.method, name: tool.key }
  report(new Error(`What tool ${quote(tool.key)} returned ${reason}`), where, scope.settings)
  return failure(`Tool ${quote(tool.key)} failed`, scope)
}

function failure(text: string, scope: Scope): CallToolResult {
  return resultOf({ content: [textBlock(text)], isError: true }, undefined, scope)
}

function textBlock(text: string): ContentBlock {
  return { type: 'text', text }
}
