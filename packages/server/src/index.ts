export { createServer } from './create-server.ts'
export { DefinitionError, type DefinitionProblem } from './definition-error.ts'
export { tool, toolResult } from './tools/tool.ts'
export { prompt } from './prompts/prompt.ts'
export { resource, resourceNotFound, resourceTemplate } from './resources/resource.ts'
export { expandUriTemplate } from './resources/uri-template.ts'
export type { Awaitable } from './request/awaitable.ts'
export type { ClientFeature, ClientView, Context } from './request/context.ts'
export type { CacheHints, Completer, Completion, Described, KnownArguments } from './described.ts'
export type { VisibleTo } from './pages.ts'
export type { AnyPromptDefinition, Prompt, PromptContent, PromptDefinition, PromptReturn } from './prompts/prompt.ts'
export type {
  AnyTemplateDefinition,
  Resource,
  ResourceContent,
  ResourceDefinition,
  ResourceDescription,
  ResourcePart,
  ResourceReturn,
  ResourceTemplate,
  ResourceTemplateDefinition,
} from './resources/resource.ts'
export type { AcceptedBy, AnySchema, ParsedBy } from './json-schema/schemas.ts'
export type { ErrorPlace } from './request/scope.ts'
export type { Server, ServerDefinition, ServerOffers } from './server-definition.ts'
export type { AnyToolDefinition, FullToolResult, Tool, ToolContent, ToolDefinition, ToolReturn } from './tools/tool.ts'
export type { UriVariables, VariableNames } from './resources/uri-template.ts'
