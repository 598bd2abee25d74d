/**
 * Definitions of tools, prompts and resources, compiled into a server.
 *
 * @module @x/server
 */

export { createServer } from './create-server.ts'
export { DefinitionError, type DefinitionProblem } from './definition-error.ts'
export { tool, toolResult } from './tools/tool.ts'
export { isToolError, ToolError } from './tools/tool-error.ts'
export { prompt } from './prompts/prompt.ts'
export { resource, resourceNotFound, resourceTemplate } from './resources/resource.ts'
export { expandUriTemplate } from './resources/uri-template.ts'
export { form } from './elicitation/form.ts'
export { inputRequired } from './replay/input-required.ts'
export { InputDeclined } from './replay/input-declined.ts'
export { HandlerError, type HandlerProblem } from './replay/handler-error.ts'
export { isSuspension } from './replay/suspension.ts'
export { memoryBus, type MemoryBusOptions } from './bus/memory-bus.ts'
export { sealed as sealedState } from '@x/state-codec'
export type { KeyedOptions, KeyInput, OpenClaims, SealClaims, StateCodec } from '@x/state-codec'
export type { Awaitable } from './request/awaitable.ts'
export type { AnsweredBy, Form } from './elicitation/form.ts'
export type { TaskChoice } from './replay/task-choice.ts'
export type { InputRequired } from './replay/input-required.ts'
export type { FormAnswer, FormQuestion, UrlQuestion } from './replay/question.ts'
export type { Checkpoint, StepContext, StepResult, Widened, WithListsFilled } from './replay/recorded.ts'
export type { ServerWarning, WarningCode } from './server-warning.ts'
export type { ClientFeature, ClientView, Context, RequestContext } from './request/context.ts'
export type { CacheHints, Completer, Completion, Described, CompletedArguments } from './described.ts'
export type { CallView, VisibleTo } from './pages.ts'
export type { AnyPromptDefinition, Prompt, PromptContent, PromptDefinition, PromptReturn } from './prompts/prompt.ts'
export type {
  AnyTemplateDefinition,
  Resource,
  ResourceContent,
  ResourceDefinition,
  ResourceDescription,
  ResourceLister,
  ResourcePage,
  ResourcePart,
  ResourceReturn,
  ResourceTemplate,
  ResourceTemplateDefinition,
} from './resources/resource.ts'
export type { CheckedValue, RejectedValue } from './json-schema/issues.ts'
export type { AcceptedBy, AnySchema, ParsedBy, SchemaInput, SchemaWithInput } from './json-schema/schemas.ts'
export type { ErrorContext } from './request/request-state.ts'
export type { Change, ChangeBus, ChangeListener } from './subscriptions/change-bus.ts'
export type { SubscriptionOptions } from './subscriptions/options.ts'
export type {
  HardLimit,
  Load,
  LoadCounters,
  IdempotencyOptions,
  ReadyLimit,
  ServerLoad,
  ShedEvent,
  SheddingCall,
  SheddingOptions,
  ShedReason,
} from './shedding/shedding-options.ts'
export type { TypesOf } from '@x/schema'
export type { McpServer, ServerDefinition, ServerOffers, TypesByName } from './server-definition.ts'
export type { AnyToolDefinition, FullToolResult, Tool, ToolContent, ToolDefinition, ToolReturn } from './tools/tool.ts'
export type { UriVariables, VariableNames } from './resources/uri-template.ts'
