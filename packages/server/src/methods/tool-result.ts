import { isCancelled, quoteText, stringifyWellFormed } from '@x/core'
import { type CallToolResult, type ContentBlock, isJsonObject, isMcpError, type JsonValue } from '@x/schema'
import { type CompiledTool, mergeResultMeta } from '../compile/catalog.ts'
import { isInputDeclined } from '../definitions/context.ts'
import { invalidArgumentsText, isFullToolResult, isToolError, type ToolContent } from '../definitions/tool.ts'
import { formatIssues, type RejectedValue } from '../json-schema/rejected-value.ts'
import { isUnansweredError } from '../replay/ask-client.ts'
import type { ServedRequest } from '../replay/served-request.ts'
import { reportServerError, logContextOf } from '../request/report.ts'
import { mapAwaitable, type Awaitable } from '../request/awaitable.ts'
import { describeType } from '../request/json-copy.ts'

/**
 * Makes a result of what a tool returned. Structured content that the output schema rejects is not sent: the reason is
 * logged, and the model receives only that the tool failed (server/tools, output schema).
 */
export function toToolResult(
  toolReturn: unknown,
  tool: CompiledTool,
  request: ServedRequest,
): Awaitable<CallToolResult> {
  const { checkOutput } = tool
  if (checkOutput === undefined) return toPlainResult(toolReturn, tool, request)
  const toolContent: Partial<ToolContent> = isFullToolResult(toolReturn) ? toolReturn : {}
  const structuredValue = isFullToolResult(toolReturn) ? toolReturn.structuredContent : toolReturn
  // A failed call may omit structured content. Every other result of a tool with an output schema must have it.
  if (toolContent.isError === true && structuredValue === undefined)
    return createToolResult(toolContent, undefined, request)
  return mapAwaitable(checkOutput(structuredValue), (checkedOutput) => {
    if (checkedOutput.issues === undefined)
      return createStructuredResult(toolContent, checkedOutput.value, tool, request)
    const advice = isToolContent(structuredValue) ? '\nTo set the content too, return toolResult({ content, … })' : ''
    return rejectUnusableReturn(
      `a value that does not match its output schema:\n${formatIssues(checkedOutput)}${advice}`,
      tool,
      request,
    )
  })
}

function toPlainResult(toolReturn: unknown, tool: CompiledTool, request: ServedRequest): CallToolResult {
  if (typeof toolReturn === 'string') return createToolResult({ content: [textBlock(toolReturn)] }, undefined, request)
  if (!isToolContent(toolReturn)) {
    const reason = `${describeType(toolReturn)}, which is neither text nor { content: [...] }`
    return rejectUnusableReturn(`${reason}; declare output to return structured content`, tool, request)
  }
  const blockProblem = findBlockProblem(toolReturn.content)
  if (blockProblem !== undefined) return rejectUnusableReturn(blockProblem, tool, request)
  if (toolReturn.structuredContent === undefined) return createToolResult(toolReturn, undefined, request)
  return createStructuredResult(toolReturn, toolReturn.structuredContent, tool, request)
}

const blockTypes: ReadonlySet<unknown> = new Set(['text', 'image', 'audio', 'resource_link', 'resource'])

function findBlockProblem(content: readonly unknown[] = []): string | undefined {
  const wrongBlock = content.find((block) => !isJsonObject(block) || !blockTypes.has(block['type']))
  if (wrongBlock === undefined) return undefined
  const found = isJsonObject(wrongBlock) ? `the type ${JSON.stringify(wrongBlock['type'])}` : describeType(wrongBlock)
  return `a content block of ${found}; the types are ${[...blockTypes].join(', ')}`
}

/**
 * Finds a value that JSON writes as `{}` although it contains something, such as a `Map` under `z.any()`.
 * `JSON.stringify` has accepted everything, so there is no cycle.
 */
function findLostValue(value: unknown, path = ''): string | undefined {
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return undefined
  const type = describeType(value)
  if (!['an object', 'an array'].includes(type) && Object.keys(value).length === 0) {
    const where = path === '' ? '' : ` at ${path}`
    return `${type}${where}, which JSON writes as {}; return a plain object or an array`
  }
  for (const [key, member] of Object.entries(value)) {
    const problem = findLostValue(member, `${path}/${key}`)
    if (problem !== undefined) return problem
  }
  return undefined
}

function isToolContent(value: unknown): value is Partial<ToolContent> {
  return isFullToolResult(value) || (isJsonObject(value) && Array.isArray(value['content']))
}

/** Repeats structured content as text, for clients that read only text (server/tools, structured content). */
function createStructuredResult(
  toolContent: Partial<ToolContent>,
  value: unknown,
  tool: CompiledTool,
  request: ServedRequest,
): CallToolResult {
  let text: string | undefined
  try {
    text = stringifyWellFormed(value)
  } catch (cause) {
    return rejectUnusableReturn(
      `a value that is not JSON: ${cause instanceof Error ? cause.message : 'it cannot be written'}`,
      tool,
      request,
    )
  }
  if (text === undefined) return rejectUnusableReturn(`a ${typeof value}, which JSON cannot write`, tool, request)
  // A class instance without members of its own becomes {}, so only such a text needs the search.
  const lost = text.includes('{}') ? findLostValue(value) : undefined
  if (lost !== undefined) return rejectUnusableReturn(lost, tool, request)
  const content = toolContent.content ?? [textBlock(text)]
  // The cast is safe: `JSON.stringify` has just accepted the value.
  return createToolResult({ ...toolContent, content }, value as JsonValue, request)
}

function createToolResult(
  { content = [], isError, _meta }: Partial<ToolContent>,
  structuredContent: JsonValue | undefined,
  { catalog }: ServedRequest,
): CallToolResult {
  return {
    resultType: 'complete',
    content,
    ...(structuredContent !== undefined && { structuredContent }),
    ...(isError === true && { isError }),
    _meta: mergeResultMeta(_meta, catalog),
  }
}

/** Names each invalid argument, so that the model can correct them (server/tools, error handling). */
export function createInvalidArgumentsResult(
  tool: CompiledTool,
  rejectedValue: RejectedValue,
  request: ServedRequest,
): CallToolResult {
  return createErrorResult(`${invalidArgumentsText} ${quoteText(tool.key)}:\n${formatIssues(rejectedValue)}`, request)
}

/**
 * Makes a result that the model reads of a thrown error. Rethrows an `McpError`, and any error of a cancelled call.
 * Only messages meant for the model reach it; any other error is logged, and the model receives only that the tool
 * failed.
 */
export function handleToolError(error: unknown, tool: CompiledTool, request: ServedRequest): CallToolResult {
  if (isCancelled(request.call)) throw error
  if (isForPeer(error)) return createErrorResult(error.message, request)
  if (isMcpError(error)) throw error
  reportServerError(error, logContextOf(request, tool.key), request.settings)
  // The message may contain a connection string or a path, so it is only logged.
  return createErrorResult(`Tool ${quoteText(tool.key)} failed`, request)
}

function isForPeer(error: unknown): error is Error {
  return isInputDeclined(error) || isToolError(error) || isUnansweredError(error)
}

function rejectUnusableReturn(reason: string, tool: CompiledTool, request: ServedRequest): CallToolResult {
  const error = new Error(`Tool ${quoteText(tool.key)} returned ${reason}`)
  reportServerError(error, logContextOf(request, tool.key), request.settings)
  return createErrorResult(`Tool ${quoteText(tool.key)} failed`, request)
}

function createErrorResult(text: string, request: ServedRequest): CallToolResult {
  return createToolResult({ content: [textBlock(text)], isError: true }, undefined, request)
}

function textBlock(text: string): ContentBlock {
  return { type: 'text', text }
}
