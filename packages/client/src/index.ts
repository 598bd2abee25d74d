/**
 * Typed calls to MCP servers.
 *
 * @module @x/client
 */

export type { ClientCache } from './caching/cache.ts'
export { createCacheStore } from './caching/cache-store.ts'
export type { CallToolFunction } from './tools/call-tool.ts'
export type { CallOutcome, OutgoingCall, SendCall } from './rounds/wrapped-calls.ts'
export {
  type CallErrorContext,
  ClientError,
  isClientError,
  isResourceNotFound,
} from './request/client-error.ts'
export type { ClientErrorCode } from './request/client-error-codes.ts'
export type {
  ClientApis,
  ClientExtension,
  ClientExtensionHost,
  ClientExtensionInstance,
  ClientOptions,
} from './extensions/client-extension.ts'
export type { ExternalInputRequests, ClientCallSteps } from './rounds/client-call-steps.ts'
export type { Clock, Log, LogLevel, LogRecord, Runtime } from '@x/core'
export type { Client, CompletionOptions } from './client.ts'
export { createClient } from './create-client.ts'
export type { TypesOf } from '@x/exchange'
export type {
  CallParameters,
  UncallableName,
  PromptFunctions,
  ToolFunctions,
  TypedCalls,
  TypedToolResult,
  UnknownServer,
} from './rounds/typed-calls.ts'
export type { ExtensionCallOptions, ExtensionRequest } from './request/request.ts'
export type { ObservedCall, ClientEvent, ClientEvents } from './request/client-event.ts'
export type { CallOptions, LogMessage, Progress, ReadOptions } from './request/call-options.ts'
export type {
  CacheEntries,
  CacheEntry,
  CachePartition,
  CacheStore,
  CacheStoreOptions,
  CoreClientOptions,
} from './request/options.ts'
export type { ListCalls } from './tools/offered-lists.ts'
export type { MultiRoundCalls } from './rounds/multi-round-calls.ts'
export type { MultiRoundMethod, MultiRoundResults } from './request/input-required.ts'
export type { InputAnswers } from './rounds/answer-requests.ts'
export type { Awaitable, ElicitAnswer, InputContext, InputHandlers } from './request/input-handlers.ts'
export type { InputRequiredRound, ManualRounds, Round } from './rounds/manual.ts'
export type { PendingCall } from './rounds/pending-call.ts'
export type { RoundOptions, RoundView } from './request/round-options.ts'
export { isPermanent, retryAfterMsOf } from './request/permanent-failure.ts'
export type { KeepFresh, KeepFreshOptions } from './subscriptions/keep-fresh.ts'
export type { ListenOptions, ReopenOptions, Subscription } from './subscriptions/subscription.ts'
export type { ListChange, SubscriptionEvent } from './caching/changes.ts'
export type { SubscriptionCalls } from './subscriptions/keep-fresh.ts'
export type { ContentBlock, JsonObject, JsonValue } from '@x/schema'
