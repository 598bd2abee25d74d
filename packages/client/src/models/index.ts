/**
 * A server's tools in the formats of model APIs, and their results as content for a model.
 *
 * @module @x/client/models
 */

export {
  type AiSdkContent,
  type AiSdkOutput,
  aiSdkOutput,
  type AiSdkSchema,
  type AiSdkTool,
  aiSdkTools,
} from './ai-sdk.ts'
export {
  type AnthropicBlock,
  type AnthropicResultContent,
  anthropicResult,
  type AnthropicTool,
  type AnthropicToolResult,
  anthropicTools,
} from './anthropic.ts'
export type { ImageType } from './model-content.ts'
export { errorResult, type ModelTools, type ToolSource } from './model-tools.ts'
export {
  type OpenAiChatCall,
  type OpenAiChatContent,
  type OpenAiChatMessage,
  openaiChatMessages,
  type OpenAiChatTool,
  openaiChatTools,
  type OpenAiItem,
  type OpenAiResultContent,
  openaiResult,
  type OpenAiTool,
  type OpenAiToolResult,
  openaiTools,
} from './openai.ts'
