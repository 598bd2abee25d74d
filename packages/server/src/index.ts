/**
 * Define tools, prompts and resources, and make a server of them that any transport can serve.
 *
 * @module @x/server
 */

export { createServer } from './create-server.ts'
export { DefinitionError, type DefinitionErrorCode, isDefinitionError } from '@x/exchange'
export { errorCodes, isMcpError, McpError } from '@x/schema'
export { tool, toolResult } from './definitions/tool.ts'
export { isToolError, ToolError } from './definitions/tool.ts'
export { prompt } from './definitions/prompt.ts'
export { resource, resourceNotFoundError, resourceTemplate } from './definitions/resource.ts'
export { expandUriTemplate } from './definitions/uri-template.ts'
export { form } from './elicitation/form.ts'
export { inputRequired } from './definitions/context.ts'
export { InputDeclined, isInputDeclined } from './definitions/context.ts'
export { isSuspension } from '@x/exchange/internal'
export { HandlerError, type HandlerErrorCode, isHandlerError } from './replay/handler-error.ts'
export { memoryBus, type MemoryBusOptions } from '@x/core'
export { randomKey, sealedState } from '@x/state-codec'
export type { KeyedOptions, KeyInput, TokenContext, SealOptions, StateCodec } from '@x/state-codec'
export type { Awaitable } from './request/awaitable.ts'
export type { FormContentOf, Form } from './elicitation/form.ts'
export type { TaskChoice } from './definitions/context.ts'
export type { InputRequiredReturn } from './definitions/context.ts'
export type { FormAnswer, FormQuestion, UrlQuestion } from './definitions/context.ts'
export type { Checkpoint, StepContext, StepResult, WidenedValue, WithListsFilled } from './definitions/context.ts'
export { findHostProblems, type HostProblem, type ListedTool } from './json-schema/host-limits.ts'
export type { HostProblemCode, WarningCode } from './request/report.ts'
export type { ClientFeature, ClientView, Context, RequestContext } from './definitions/context.ts'
export type {
  CacheHints,
  Completer,
  Completion,
  BaseDefinition,
  CompletionContext,
} from './definitions/base-definition.ts'
export type { CallView, VisibleTo } from './definitions/base-definition.ts'
export type {
  AnyPromptDefinition,
  Prompt,
  PromptContent,
  PromptDefinition,
  PromptReturn,
} from './definitions/prompt.ts'
export type {
  AnyTemplateDefinition,
  Resource,
  ResourceReadContent,
  ResourceDefinition,
  ResourceDescription,
  ResourceLister,
  ResourcePage,
  ResourcePart,
  ResourceReturn,
  ResourceTemplate,
  ResourceTemplateDefinition,
} from './definitions/resource.ts'
export type { CheckedValue, RejectedValue } from './json-schema/rejected-value.ts'
export type {
  SchemaInput,
  AnySchema,
  OneSchema,
  OneSchemaSuchAs,
  RawShape,
  SchemaOutput,
  PromptArguments,
  CallerOutput,
  CallerInput,
  TextArguments,
} from './json-schema/compile-schema.ts'
export type {
  Change,
  ChangeBus,
  ChangeListener,
  LedgerLimits,
  Log,
  LogLevel,
  LogRecord,
  Runtime,
} from '@x/core'
export type { SubscriptionOptions } from './subscriptions/options.ts'
export type {
  HardLimit,
  Load,
  LoadCounters,
  IdempotencyOptions,
  McpServerLoad,
  SheddingOptions,
  HandOffReason,
} from './shedding/shedding-options.ts'
export type { Middleware, Principal, TypesOf } from '@x/exchange'
export type { ContentBlock, JsonObject, JsonValue } from '@x/schema'
export type { McpServer, ServerDefinition, ServerOffers, TypesByName } from './definitions/server-definition.ts'
export type {
  AnyToolDefinition,
  FullToolResult,
  Tool,
  ToolContent,
  ToolDefinition,
  ToolReturn,
  ToolValue,
} from './definitions/tool.ts'
export type { UriVariables, VariableNames } from './definitions/uri-template.ts'
