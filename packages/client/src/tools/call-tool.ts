import type { Log } from '@x/core'
import {
  type CallToolResult,
  errorCodes,
  isJsonObject,
  type JsonObject,
  projectMetaKeys,
  encodeHeaderArguments,
  type HeaderParams,
} from '@x/schema'
import { createOutputCheckLookup } from './check-output.ts'
import {
  type CallErrorContext,
  encodeArguments,
  isClientError,
  isUnanswered,
  withEarlierRun,
} from '../request/client-error.ts'
import type { CallOptions, ReadOptions } from '../request/call-options.ts'
import type { CoreClientSettings } from '../request/options.ts'
import type { ClientRequest, SendOnce } from '../request/request.ts'
import type { MultiRoundCall } from '../request/multi-round-call.ts'
import type { KnownTool, ToolIndex } from './tool-index.ts'

export interface ToolCallsDeps {
  readonly sendOnce: SendOnce
  readonly toolIndex: ToolIndex
  /** Reads all pages, so that the index has every tool. */
  readonly listTools: (options: ReadOptions) => Promise<unknown>
  readonly errorContextOf: (request: ClientRequest<'tools/call'>) => CallErrorContext
  readonly options: Pick<CoreClientSettings, 'outputSchemaCompiler'> & { readonly log: Log }
}

/**
 * Calls a tool by name. Resolves also if `isError` is true, because such a result is meant for the model (server/tools,
 * error handling).
 */
export type CallToolFunction = (name: string, args?: JsonObject, options?: CallOptions) => Promise<CallToolResult>

export interface ToolCallFactory {
  /** Looks up a tool that was never listed, if its definition is needed. */
  prepareCall(name: string, options: CallOptions): Promise<unknown> | undefined
  /** Takes the params `name` and `arguments`. */
  create(params: JsonObject, options: CallOptions): MultiRoundCall<'tools/call'>
}

// Maximum number of looked-up names that a client remembers. They come from models, which may invent any number of
// them.
const maxRememberedToolLookups = 1000

/**
 * Calls tools. If a tool's definition requires it, HTTP headers repeat some of the arguments; should the server reject
 * them, the client reads the list of tools again and repeats the request once (basic/transports/streamable-http, client
 * behavior). Repeating is safe, because a server checks headers before it runs the tool, in every round.
 */
export function createToolCalls(deps: ToolCallsDeps): ToolCallFactory {
  const { sendOnce, toolIndex, listTools, errorContextOf, options: clientOptions } = deps
  const { outputSchemaCompiler, log } = clientOptions
  const getOutputCheck = outputSchemaCompiler && createOutputCheckLookup(outputSchemaCompiler, log)
  // Created on first use, because a program may have thousands of clients, few of which look up a tool.
  let lookups: Map<string, Promise<unknown>> | undefined
  /** Lists the tools, once for each unknown name. Calls that need the list at the same time share one request. */
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
    // Checking a result needs the tool's definition, because the output schema is in it.
    prepareCall: (name, options) => (getOutputCheck ? lookUpTool(name, options) : undefined),
    create: (params, callOptions) => {
      const name = String(params.name)
      const readTool = async (): Promise<KnownTool | undefined> => {
        // If the list cannot be read, the tool stays unknown and its call is not repeated. A proxy that answers for its
        // server expects it back, so the list waits for that; where nothing answers, it does not.
        await lookUpTool(name, { ...callOptions, maxResendMs: 0 })
          ?.catch((error: unknown) => (hasAnswer(error) ? lookUpTool(name, callOptions) : undefined))
          .catch(() => {})
        return toolIndex.find(name)
      }
      const requestOf = (paramsWithInput: JsonObject): ClientRequest<'tools/call'> =>
        withHeaderParams(deps, name, {
          method: 'tools/call',
          params: paramsWithInput,
          isRepeatable: async () => isRepeatable(await readTool()),
        })
      const call = { method: 'tools/call', params } as const
      const tool = getOutputCheck && toolIndex.find(name)?.tool
      const outputCheck = tool && getOutputCheck(tool, errorContextOf(call))
      return {
        method: 'tools/call',
        params,
        options: callOptions,
        attempt: (paramsWithInput, options) =>
          sendOnce(requestOf(paramsWithInput), options).catch(async (error: unknown) => {
            if (!isClientError(error) || error.rpc?.code !== errorCodes.headerMismatch) throw error
            try {
              await listTools({ ...toReadOptions(options), refresh: true })
              return await sendOnce(requestOf(paramsWithInput), options)
            } catch (laterError) {
              throw error.mayHaveRun ? withEarlierRun('tools/call', laterError) : laterError
            }
          }),
        isRestartable: async () => isRestartable(await readTool()),
        check: outputCheck && ((result) => outputCheck(result, errorContextOf(call))),
      }
    },
  }
}

function isRepeatable(knownTool: KnownTool | undefined): boolean {
  return isRestartable(knownTool) || knownTool?.tool._meta?.[projectMetaKeys.keyedEffects] === true
}

/** True if a call of the tool may start again from its first round, although the answers may then differ. */
function isRestartable(knownTool: KnownTool | undefined): boolean {
  const { readOnlyHint, idempotentHint } = knownTool?.tool.annotations ?? {}
  return readOnlyHint === true || idempotentHint === true
}

function withHeaderParams(
  { toolIndex, errorContextOf }: ToolCallsDeps,
  name: string,
  call: ClientRequest<'tools/call'>,
): ClientRequest<'tools/call'> {
  const declaredHeaders = toolIndex.find(name)?.headerParams
  if (!declaredHeaders?.length) return call
  const args = isJsonObject(call.params.arguments) ? call.params.arguments : {}
  const encode = (): HeaderParams => encodeHeaderArguments(declaredHeaders, args)
  return { ...call, headerParams: encodeArguments(encode, () => errorContextOf(call)) }
}

function hasAnswer(error: unknown): boolean {
  return !isUnanswered(error) || (error.cause instanceof Error && Reflect.get(error.cause, 'status') !== undefined)
}

// What also applies when a list is read for the call. Progress and logs of the list are not for the caller.
function toReadOptions({ signal, timeoutMs, maxResendMs, meta }: CallOptions): ReadOptions {
  return { signal, timeoutMs, maxResendMs, meta }
}
