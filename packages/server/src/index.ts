export { createServer } from './create-server.ts'
export { DefinitionError, type DefinitionProblem } from './definition-error.ts'
export { tool, toolResult } from './tool.ts'
export { prompt } from './prompt.ts'
export { resource, resourceNotFound, resourceTemplate } from './resource.ts'
export { expandUriTemplate } from './uri-template.ts'
export type { Awaitable } from './awaitable.ts'
export type { ClientFeature, ClientView, Context } from './context.ts'
export type { CacheHints, Completer, Completion, Described, KnownArguments } from './described.ts'
export type { VisibleTo } from './pages.ts'
export type { AnyPromptDefinition, Prompt, PromptContent, PromptDefinition, PromptReturn } from './prompt.ts'
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
} from './resource.ts'
export type { AcceptedBy, AnySchema, ParsedBy } from './schemas.ts'
export type { ErrorPlace } from './scope.ts'
export type { Server, ServerDefinition, ServerOffers } from './server-definition.ts'
export type { AnyToolDefinition, FullToolResult, Tool, ToolContent, ToolDefinition, ToolReturn } from './tool.ts'
export type { UriVariables, VariableNames } from './uri-template.ts'
