import type { CallToolResult, JsonObject } from '@x/schema'
import { type ModelPart, toModelParts, toModelText } from './model-content.ts'
import { type ModelTool, readModelTools, type ToolSource } from './model-tools.ts'

/** A tool of the AI SDK, whose `execute` calls the server. */
export interface AiSdkTool {
  type: 'dynamic'
  description: string
  inputSchema: AiSdkSchema
  execute(input: unknown, options: { readonly abortSignal?: AbortSignal | undefined }): Promise<CallToolResult>
  toModelOutput(options: { readonly output: CallToolResult }): AiSdkOutput
}

/**
 * A schema that comes with itself as JSON Schema (Standard JSON Schema). It accepts every value, because the server
 * checks.
 */
export interface AiSdkSchema {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => { readonly value: unknown }
    readonly jsonSchema: {
      readonly input: () => Record<string, unknown>
      readonly output: () => Record<string, unknown>
    }
  }
}

/** A tool's result as the AI SDK shows it to a model. */
export type AiSdkOutput =
  | { type: 'text'; value: string }
  | { type: 'error-text'; value: string }
  | { type: 'content'; value: AiSdkContent[] }

/** A part of a result, as the AI SDK has it. */
export type AiSdkContent =
  | { type: 'text'; text: string }
  | { type: 'file'; mediaType: string; data: { type: 'data'; data: string }; filename?: string }

/**
 * Reads a client's tools for the AI SDK 7, which then calls them itself. Your program gets the whole result of a call
 * as its output, and the model its content.
 *
 * @example
 * const { text } = await generateText({ model, prompt, tools: await aiSdkTools(client), stopWhen: isStepCount(10) })
 */
export async function aiSdkTools(client: ToolSource): Promise<Record<string, AiSdkTool>> {
  const toolSet = await readModelTools(client)
  const toAiSdkTool = ({ name, description, schema }: ModelTool): AiSdkTool => ({
    type: 'dynamic',
    description,
    inputSchema: toAiSdkSchema(schema),
    execute: (input, { abortSignal }) => toolSet.call({ name, input }, { signal: abortSignal }),
    toModelOutput: ({ output }) => aiSdkOutput(output),
  })
  return Object.fromEntries(toolSet.tools.map((tool) => [tool.name, toAiSdkTool(tool)]))
}

function toAiSdkSchema(schema: JsonObject): AiSdkSchema {
  // A copy each time: the AI SDK writes into the schema that it gets.
  const copySchema = (): Record<string, unknown> => structuredClone({ ...schema })
  return {
    '~standard': {
      version: 1,
      vendor: '@x/client',
      validate: (value) => ({ value }),
      jsonSchema: { input: copySchema, output: copySchema },
    },
  }
}

/** Converts a tool's result to what the AI SDK gives a model. */
export function aiSdkOutput(result: CallToolResult): AiSdkOutput {
  const parts = toModelParts(result)
  if (result.isError === true) return { type: 'error-text', value: toModelText(result) }
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  if (texts.length === parts.length) return { type: 'text', value: texts.join('\n\n') }
  return { type: 'content', value: parts.map(toAiSdkContent) }
}

function toAiSdkContent(part: ModelPart): AiSdkContent {
  if (part.type === 'text') return { type: 'text', text: part.text }
  const file = { type: 'file', mediaType: part.mimeType, data: { type: 'data', data: part.data } } as const
  return part.type === 'image' ? file : { ...file, filename: part.name }
}
