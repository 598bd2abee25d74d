import { isReadonlyArray, quoteText } from '@x/core'
import {
  errorCodes,
  type GetPromptRequestParams,
  type GetPromptResult,
  type JsonObject,
  McpError,
  type PromptMessage,
} from '@x/schema'
import { mapAwaitable, type Awaitable } from '../request/awaitable.ts'
import { type CompiledPrompt, mergeResultMeta, findVisibleEntry } from '../compile/catalog.ts'
import type { Context } from '../definitions/context.ts'
import { replayCall } from '../replay/replay.ts'
import { formatIssues } from '../json-schema/rejected-value.ts'
import type { PromptContent, PromptReturn } from '../definitions/prompt.ts'
import { requireCapabilities, type ServedRequest } from '../replay/served-request.ts'

type GivenPromptArguments = NonNullable<GetPromptRequestParams['arguments']>

const noArguments: GivenPromptArguments = Object.freeze({})

/** Fills in a prompt (server/prompts, getting a prompt). An unknown name and invalid arguments are protocol errors. */
export function getPrompt(params: GetPromptRequestParams, request: ServedRequest): Awaitable<JsonObject> {
  const prompt = findVisibleEntry(request.catalog.prompts, params.name, request.call)
  if (prompt === undefined) throw invalidPromptError(`Unknown prompt: ${quoteText(params.name)}`)
  if (prompt.requires !== undefined) requireCapabilities(prompt.requires, request)
  const givenArguments = params.arguments ?? noArguments
  rejectMissingArguments(prompt, givenArguments)
  return mapAwaitable(prompt.checkArguments(givenArguments), (checkedArguments) => {
    if (checkedArguments.issues !== undefined) {
      throw invalidPromptError(
        `Invalid arguments for prompt ${quoteText(prompt.key)}:\n${formatIssues(checkedArguments)}`,
      )
    }
    const handler = {
      name: prompt.key,
      run: (ctx: Context) => prompt.definition.run(checkedArguments.value, ctx),
      toResult: (content: PromptReturn) => toPromptResult(content, prompt, request),
    }
    return replayCall(handler, request)
  })
}

function rejectMissingArguments(prompt: CompiledPrompt, givenArguments: GivenPromptArguments): void {
  const missingNames = prompt.requiredArguments.filter((name) => !Object.hasOwn(givenArguments, name))
  if (missingNames.length === 0) return
  throw invalidPromptError(`Arguments of prompt ${quoteText(prompt.key)} are missing: ${missingNames.join(', ')}`)
}

function toPromptResult(
  promptReturn: PromptReturn,
  prompt: CompiledPrompt,
  { catalog }: ServedRequest,
): GetPromptResult {
  const { messages, description, _meta } = toPromptContent(promptReturn)
  const resultDescription = description ?? prompt.definition.description
  return {
    resultType: 'complete',
    ...(resultDescription !== undefined && { description: resultDescription }),
    messages,
    _meta: mergeResultMeta(_meta, catalog),
  }
}

function toPromptContent(promptReturn: PromptReturn): PromptContent {
  if (typeof promptReturn === 'string') return { messages: [userMessage({ type: 'text', text: promptReturn })] }
  if (isReadonlyArray(promptReturn)) return { messages: promptReturn }
  return 'messages' in promptReturn ? promptReturn : { messages: [userMessage(promptReturn)] }
}

function userMessage(content: PromptMessage['content']): PromptMessage {
  return { role: 'user', content }
}

function invalidPromptError(message: string): McpError {
  return new McpError(errorCodes.invalidParams, message)
}
