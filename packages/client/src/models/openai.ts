import { checkArgument } from '@x/core'
import type { CallToolResult } from '@x/schema'
import { type ModelPart, toModelParts } from './model-content.ts'
import {
  type ModelCall,
  type ModelTool,
  type ModelTools,
  readModelTools,
  runCalls,
  type ToolSource,
} from './model-tools.ts'

/** A tool in a request of the OpenAI Responses API. */
export interface OpenAiTool {
  type: 'function'
  name: string
  description: string
  parameters: Record<string, unknown>
  strict: false
}

/** An item in the output of the OpenAI Responses API. A call of a tool has the type `function_call`. */
export interface OpenAiItem {
  readonly type: string
  readonly content?: unknown
  readonly call_id?: string | null | undefined
  readonly name?: string | null | undefined
  readonly arguments?: unknown
}

/** An item with a tool's result, for the input of the next request. */
export interface OpenAiToolResult {
  type: 'function_call_output'
  call_id: string
  output: string | OpenAiResultContent[]
}

/** A part of a result in the OpenAI Responses API. */
export type OpenAiResultContent =
  | { type: 'input_text'; text: string }
  | { type: 'input_image'; image_url: string; detail: 'auto' }
  | { type: 'input_file'; file_data: string; filename: string }

/**
 * Reads a client's tools for the OpenAI Responses API. Give `run` the output of the response, and send what it returns
 * as the input of the next request.
 *
 * @example
 * const tools = await openaiTools(client)
 * const response = await openai.responses.create({ model, input, tools: tools.definitions })
 * const results = await tools.run(response.output, { signal })
 */
export async function openaiTools(client: ToolSource): Promise<ModelTools<OpenAiTool, OpenAiItem, OpenAiToolResult>> {
  const toolSet = await readModelTools(client)
  return {
    definitions: toolSet.tools.map(({ name, description, schema }) => ({
      type: 'function',
      name,
      description,
      parameters: { ...schema },
      strict: false,
    })),
    run: (items, options) =>
      runCalls(toolSet, (items ?? []).flatMap(toOpenAiCall), { options, toResult: openaiResult }),
  }
}

function toOpenAiCall(item: OpenAiItem): ModelCall[] {
  if (item.type !== 'function_call') return []
  return [{ id: item.call_id ?? '', name: item.name ?? '', input: item.arguments }]
}

/** Converts a tool's result to the item that answers the call with this id. */
export function openaiResult(callId: string, result: CallToolResult): OpenAiToolResult {
  const parts = markError(toModelParts(result), result)
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  const output = texts.length === parts.length ? texts.join('\n\n') : parts.map(toOpenAiContent)
  return { type: 'function_call_output', call_id: callId, output }
}

/** OpenAI has no member for a failure, so a text says it. */
function markError(parts: readonly ModelPart[], { isError }: CallToolResult): readonly ModelPart[] {
  return isError === true ? [{ type: 'text', text: failureText }, ...parts] : parts
}

const failureText = 'The call failed:'

function toOpenAiContent(part: ModelPart): OpenAiResultContent {
  if (part.type === 'text') return { type: 'input_text', text: part.text }
  const url = `data:${part.mimeType};base64,${part.data}`
  if (part.type === 'image') return { type: 'input_image', image_url: url, detail: 'auto' }
  return { type: 'input_file', file_data: url, filename: part.name }
}

/** A tool in a request of the OpenAI Chat Completions API. */
export interface OpenAiChatTool {
  type: 'function'
  function: { name: string; description: string; parameters: Record<string, unknown> }
}

/** A tool call in a message of the OpenAI Chat Completions API, with the type `function`. */
export interface OpenAiChatCall {
  readonly id: string
  readonly type: string
  readonly function?: { readonly name: string; readonly arguments: unknown } | null | undefined
}

/** A message with a tool's result, or with the images of results, which a tool's message cannot have. */
export type OpenAiChatMessage =
  | { role: 'tool'; tool_call_id: string; content: string }
  | { role: 'user'; content: OpenAiChatContent[] }

/** A part of a message with the images of results. */
export type OpenAiChatContent =
  | { type: 'text'; text: string }
  | { type: 'image_url'; image_url: { url: string } }
  | { type: 'file'; file: { file_data: string; filename: string } }

/**
 * Reads a client's tools for the OpenAI Chat Completions API, and for the many APIs that are like it. Give `run` the
 * `tool_calls` of the message, and append the messages that it returns.
 *
 * @example
 * const tools = await openaiChatTools(client)
 * const { choices } = await openai.chat.completions.create({ model, messages, tools: tools.definitions })
 * messages.push(choices[0].message, ...(await tools.run(choices[0].message.tool_calls, { signal })))
 */
export async function openaiChatTools(
  client: ToolSource,
): Promise<ModelTools<OpenAiChatTool, OpenAiChatCall, OpenAiChatMessage>> {
  const toolSet = await readModelTools(client)
  return {
    definitions: toolSet.tools.map(toChatTool),
    run: async (calls, options) => {
      const toResult = (id: string, result: CallToolResult) => ({ id, result })
      return openaiChatMessages(await runCalls(toolSet, (calls ?? []).flatMap(toChatModelCall), { options, toResult }))
    },
  }
}

const maxDescriptionLength = 1024

/** A description that is too long goes into the schema, where its length has no limit. */
function toChatTool({ name, description, schema }: ModelTool): OpenAiChatTool {
  const parameters = { ...schema }
  if (description.length <= maxDescriptionLength)
    return { type: 'function', function: { name, description, parameters } }
  // The cut may be in the middle of a character.
  const beginning = `${description.slice(0, maxDescriptionLength - 1).replace(/\p{Cs}$/u, '')}…`
  return { type: 'function', function: { name, description: beginning, parameters: { ...parameters, description } } }
}

function toChatModelCall(call: OpenAiChatCall): ModelCall[] {
  if (call.type !== 'function' || !call.function) return []
  const { name, arguments: input } = call.function
  return [{ id: call.id, name, input }]
}

/**
 * Converts the results of one message's tool calls: a message for each call, and then one with their images and
 * documents, if there are any.
 */
export function openaiChatMessages(
  results: readonly { readonly id: string; readonly result: CallToolResult }[],
): OpenAiChatMessage[] {
  checkArgument(results, { where: 'openaiChatMessages', takes: 'an array of results', needs: ['map'] })
  const media: OpenAiChatContent[] = []
  const messages = results.map(({ id, result }): OpenAiChatMessage => {
    const texts = markError(toModelParts(result), result).map((part) => {
      if (part.type === 'text') return part.text
      media.push(toChatContent(part))
      return `[${part.type} ${media.length} of the next message of the user]`
    })
    return { role: 'tool', tool_call_id: id, content: texts.join('\n\n') }
  })
  if (media.length === 0) return messages
  const text = 'From the results of the tools:'
  return [...messages, { role: 'user', content: [{ type: 'text', text }, ...media] }]
}

function toChatContent(part: Exclude<ModelPart, { type: 'text' }>): OpenAiChatContent {
  const url = `data:${part.mimeType};base64,${part.data}`
  if (part.type === 'image') return { type: 'image_url', image_url: { url } }
  return { type: 'file', file: { file_data: url, filename: part.name } }
}
