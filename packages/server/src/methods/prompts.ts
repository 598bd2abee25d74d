import {
  errorCodes,
  type GetPromptRequestParams,
  type GetPromptResult,
  type JsonObject,
  McpError,
  type PaginatedRequestParams,
  type PromptMessage,
} from '@x/schema'
import { after, type Awaitable } from '../request/awaitable.ts'
import { type CompiledPrompt, resultMeta, findVisible, readPage } from '../compile/catalog.ts'
import type { Context } from '../definitions/context.ts'
import { replay } from '../replay/replay.ts'
import { issueLines } from '../json-schema/schemas.ts'
import type { PromptContent, PromptReturn } from '../definitions/prompt.ts'
import { quote } from '../request/report.ts'
import { requireCapabilities, type RequestState } from '../replay/served-request.ts'

type Arguments = NonNullable<GetPromptRequestParams['arguments']>

const noArguments: Arguments = Object.freeze({})

/** A page of the prompts that the caller may use (server/prompts, listing prompts). */
export function listPrompts({ cursor }: PaginatedRequestParams, { catalog, call }: RequestState): JsonObject {
  return readPage(catalog.prompts, cursor, call)
}

/** Fills in a prompt (server/prompts, getting a prompt). A name or an argument that does not fit is a protocol error. */
export function getPrompt(params: GetPromptRequestParams, request: RequestState): Awaitable<JsonObject> {
  const prompt = findVisible(request.catalog.prompts, params.name, request.call)
  if (prompt === undefined) throw invalidPrompt(`Unknown prompt: ${quote(params.name)}`)
  requireCapabilities(prompt.requires, request)
  const given = params.arguments ?? noArguments
  rejectMissing(prompt, given)
  return after(prompt.input(given), (checked) => {
    if (checked.issues !== undefined) {
      throw invalidPrompt(`Invalid arguments for prompt ${quote(prompt.key)}:\n${issueLines(checked)}`)
    }
    const handler = {
      name: prompt.key,
      run: (ctx: Context) => prompt.definition.run(checked.value, ctx),
      finish: (content: PromptReturn) => promptResult(content, prompt, request),
    }
    return replay(handler, request)
  })
}

function rejectMissing(prompt: CompiledPrompt, given: Arguments): void {
  const missing = prompt.required.filter((name) => !Object.hasOwn(given, name))
  if (missing.length === 0) return
  throw invalidPrompt(`Prompt ${quote(prompt.key)} needs the arguments that are missing: ${missing.join(', ')}`)
}

function promptResult(returned: PromptReturn, prompt: CompiledPrompt, { catalog }: RequestState): GetPromptResult {
  const { messages, description, _meta } = promptContent(returned)
  const about = description ?? prompt.definition.description
  const meta = resultMeta(_meta, catalog)
  return {
    resultType: 'complete',
    ...(about !== undefined && { description: about }),
    messages,
    ...(meta && { _meta: meta }),
  }
}

function promptContent(returned: PromptReturn): PromptContent {
  if (typeof returned === 'string') return { messages: [userMessage({ type: 'text', text: returned })] }
  if (isMessages(returned)) return { messages: returned }
  return 'messages' in returned ? returned : { messages: [userMessage(returned)] }
}

function isMessages(returned: PromptReturn): returned is readonly PromptMessage[] {
  return Array.isArray(returned)
}

function userMessage(content: PromptMessage['content']): PromptMessage {
  return { role: 'user', content }
}

function invalidPrompt(message: string): McpError {
  return new McpError(errorCodes.invalidParams, message)
}
