import type { CallToolResult, JsonObject } from '@x/schema'
import { describePart, type ImageType, type ModelPart, toModelParts } from './model-content.ts'
import { type ModelCall, type ModelTools, readModelTools, runCalls, type ToolSource } from './model-tools.ts'

/** A tool in a request of the Anthropic Messages API. */
export interface AnthropicTool {
  name: string
  description: string
  input_schema: JsonObject & { type: 'object' }
}

/** A block in the content of a message of the Anthropic Messages API. A call of a tool has the type `tool_use`. */
export interface AnthropicBlock {
  readonly type: string
  readonly text?: string | null | undefined
  readonly id?: string | null | undefined
  readonly name?: string | null | undefined
  readonly input?: unknown
}

/** A block with a tool's result, for the content of the user's next message. */
export interface AnthropicToolResult {
  type: 'tool_result'
  tool_use_id: string
  content: AnthropicResultContent[]
  is_error: boolean
}

/** A part of a result in the Anthropic Messages API. */
export type AnthropicResultContent =
  | { type: 'text'; text: string }
  | { type: 'image'; source: { type: 'base64'; media_type: ImageType; data: string } }
  | { type: 'document'; source: { type: 'base64'; media_type: 'application/pdf'; data: string }; title: string }

/**
 * Reads a client's tools for the Anthropic Messages API. Give `run` the content of the answer, and send what it returns
 * as the content of the user's next message.
 *
 * @example
 * const tools = await anthropicTools(client)
 * const answer = await anthropic.messages.create({ model, max_tokens, messages, tools: tools.definitions })
 * const results = await tools.run(answer.content, { signal })
 */
export async function anthropicTools(
  client: ToolSource,
): Promise<ModelTools<AnthropicTool, AnthropicBlock, AnthropicToolResult>> {
  const toolSet = await readModelTools(client)
  return {
    definitions: toolSet.tools.map(({ name, description, schema }) => ({ name, description, input_schema: schema })),
    run: (blocks, options) =>
      runCalls(toolSet, (blocks ?? []).flatMap(toAnthropicCall), { options, toResult: anthropicResult }),
  }
}

function toAnthropicCall(block: AnthropicBlock): ModelCall[] {
  if (block.type !== 'tool_use') return []
  return [{ id: block.id ?? '', name: block.name ?? '', input: block.input }]
}

/** Converts a tool's result to the block that answers the call with this id. */
export function anthropicResult(id: string, result: CallToolResult): AnthropicToolResult {
  const parts = toModelParts(result)
  const isError = result.isError === true
  // With `is_error`, the API refuses everything but text.
  const toContent = isError ? toTextContent : toAnthropicContent
  return { type: 'tool_result', tool_use_id: id, content: parts.map(toContent), is_error: isError }
}

function toTextContent(part: ModelPart): AnthropicResultContent {
  return { type: 'text', text: describePart(part) }
}

function toAnthropicContent(part: ModelPart): AnthropicResultContent {
  if (part.type === 'text') return { type: 'text', text: part.text }
  const { data } = part
  if (part.type === 'image') return { type: 'image', source: { type: 'base64', media_type: part.mimeType, data } }
  return { type: 'document', source: { type: 'base64', media_type: part.mimeType, data }, title: part.name }
}
