import {
  type CallToolResult,
  errorCodes,
  isJsonObject,
  type JsonObject,
  projectMetaKeys,
  encodeHeaderArguments,
  type HeaderParams,
  type HeaderParam,
  type Tool,
} from '@x/schema'
import type { OutputCheck } from './check-output.ts'
import { type CallErrorContext, ClientError, isClientError, unknownTypeResultOf } from '../request/client-error.ts'
import type { CallOptions, ReadOptions } from '../request/call-options.ts'
import type { ClientRequest, SendOnce } from '../request/request.ts'
import type { MultiRoundCall } from '../rounds/multi-round-call.ts'
import type { KnownTool, ToolIndex } from './tool-index.ts'

/** The parts of the client that calls of tools use. */
export interface ToolCallsContext {
  readonly sendOnce: SendOnce
  readonly toolIndex: ToolIndex
  /** Reads the whole list, so that the index knows it. */
  readonly listTools: (options: ReadOptions) => Promise<unknown>
  /** The check of a tool's output, or `undefined` when nothing is to be checked. */
  readonly getOutputCheck: ((tool: Tool, errorContext: CallErrorContext) => OutputCheck | undefined) | undefined
  readonly errorContextOf: (request: ClientRequest<'tools/call'>) => CallErrorContext
}

/** Calls a tool by name. A result with `isError` is a result: the model reads it (server/tools, error handling). */
export type CallToolFunction = (name: string, args?: JsonObject, options?: CallOptions) => Promise<CallToolResult>

/** A call of a tool, with its rounds. */
export type SendToolCall = (name: string, args: JsonObject, options: CallOptions) => Promise<ToolOutcome>

/**
 * The outcome of a tool's call: its checked result, or a result of a type that the client itself does not know,
 * unchecked.
 */
export type ToolOutcome =
  | { readonly resultType: 'complete'; readonly result: CallToolResult }
  | { readonly resultType: 'other'; readonly result: JsonObject; readonly error: Error }

/** Creates the requests of tools' calls. */
export interface ToolCallFactory {
  /** Looks up a tool that was never listed, if its definition is needed. */
  prepareCall(name: string, options: CallOptions): Promise<unknown> | undefined
  /** Creates the call of a tool, from the params `name` and `arguments`. */
  create(params: JsonObject, options: CallOptions): MultiRoundCall<'tools/call'>
}

// Names come from models, which invent some.
const maxRememberedToolLookups = 1000

/**
 * Creates the calls of tools. Arguments that a known tool requires in headers are repeated there. When the server finds
 * them wrong, its list is read again and the request is repeated once (basic/transports/streamable-http, client
 * behavior). The server checks headers before it runs anything, in every round.
 */
export function createToolCalls(context: ToolCallsContext): ToolCallFactory {
  const { sendOnce, toolIndex, listTools, getOutputCheck } = context
  // Made with its first use: a program may have thousands of clients, few of which look a tool up.
  let lookups: Map<string, Promise<unknown>> | undefined
  /** Lists the tools once for a name that no list has had. Calls that need it at the same time share the request. */
  const lookUpTool = (name: string, options: CallOptions): Promise<unknown> | undefined => {
    if (toolIndex.find(name)) return undefined
    lookups ??= new Map()
    const earlierLookup = lookups.get(name)
    if (earlierLookup !== undefined || lookups.size >= maxRememberedToolLookups) return earlierLookup
    const lookup = listTools(toReadOptions(options)).catch((error: unknown) => {
      lookups?.delete(name)
      throw error
    })
    lookups.set(name, lookup)
    return lookup
  }
  return {
    // Only the definition of a tool says that it has no output schema and needs no check.
    prepareCall: (name, options) => (getOutputCheck ? lookUpTool(name, options) : undefined),
    create: (params, callOptions) => {
      const name = String(params.name)
      const isSafeToRepeat = async (): Promise<boolean> => {
        // A list that cannot be read leaves the tool unknown.
        await lookUpTool(name, callOptions)?.catch(() => {})
        return isRepeatable(toolIndex.find(name))
      }
      const requestOf = (paramsWithInput: JsonObject): ClientRequest<'tools/call'> =>
        withHeaderParams(context, name, { method: 'tools/call', params: paramsWithInput, isRepeatable: isSafeToRepeat })
      const outputCheck = createOutputCheck(context, { method: 'tools/call', params }, name)
      return {
        method: 'tools/call',
        params,
        options: callOptions,
        attempt: (paramsWithInput, options) =>
          sendOnce(requestOf(paramsWithInput), options).catch(async (error: unknown) => {
            if (!isClientError(error) || error.rpc?.code !== errorCodes.headerMismatch) throw error
            await listTools({ ...toReadOptions(options), refresh: true })
            return sendOnce(requestOf(paramsWithInput), options)
          }),
        isRestartable: () => isRestartable(toolIndex.find(name)),
        check: outputCheck,
      }
    },
  }
}

/**
 * Returns true when a call of the tool may be sent again: a server that honours idempotency keys marks the tools that
 * do nothing twice.
 */
function isRepeatable(knownTool: KnownTool | undefined): boolean {
  return isRestartable(knownTool) || knownTool?.tool._meta?.[projectMetaKeys.keyedEffects] === true
}

/** Returns true when a call may begin anew, with answers that may be others. */
function isRestartable(knownTool: KnownTool | undefined): boolean {
  const { readOnlyHint, idempotentHint } = knownTool?.tool.annotations ?? {}
  return readOnlyHint === true || idempotentHint === true
}

function withHeaderParams(
  { toolIndex, errorContextOf }: ToolCallsContext,
  name: string,
  call: ClientRequest<'tools/call'>,
): ClientRequest<'tools/call'> {
  const declaredHeaders = toolIndex.find(name)?.headerParams
  if (!declaredHeaders?.length) return call
  const args = isJsonObject(call.params.arguments) ? call.params.arguments : {}
  return { ...call, headerParams: headerParamsOf(declaredHeaders, args, () => errorContextOf(call)) }
}

// The error is raised here: it must not pass for one of the server.
function headerParamsOf(
  declaredHeaders: readonly HeaderParam[],
  args: JsonObject,
  getErrorContext: () => CallErrorContext,
): HeaderParams {
  try {
    return encodeHeaderArguments(declaredHeaders, args)
  } catch (error) {
    throw new ClientError(
      'invalid_arguments',
      error instanceof Error ? error.message : String(error),
      getErrorContext(),
    )
  }
}

function createOutputCheck(
  { toolIndex, getOutputCheck, errorContextOf }: ToolCallsContext,
  call: ClientRequest<'tools/call'>,
  name: string,
): ((result: CallToolResult) => void) | undefined {
  const knownTool = toolIndex.find(name)
  const outputCheck = knownTool && getOutputCheck?.(knownTool.tool, errorContextOf(call))
  return outputCheck && ((result) => outputCheck(result, errorContextOf(call)))
}

// The list is not part of the call: its progress and logs do not concern the caller.
function toReadOptions({ signal, timeoutMs, meta }: CallOptions): ReadOptions {
  return { signal, timeoutMs, meta }
}

/** Returns a result of a type that this client does not know to the extensions, which might. */
export function toSendToolCall(callTool: CallToolFunction): SendToolCall {
  return async (name, args, options) => {
    try {
      return { resultType: 'complete', result: await callTool(name, args, options) }
    } catch (error) {
      const result = unknownTypeResultOf(error)
      // Lists that are read for the call are requests of their own, in which only the known types may come.
      if (result === undefined || !(error instanceof ClientError) || error.method !== 'tools/call') throw error
      return { resultType: 'other', result, error }
    }
  }
}

/** Rejects when no extension has completed a result of a type that this client does not know. */
export function toCallTool(call: SendToolCall): CallToolFunction {
  return async (name, args = {}, options = {}) => {
    const outcome = await call(name, args, options)
    if (outcome.resultType === 'other') throw outcome.error
    return outcome.result
  }
}
