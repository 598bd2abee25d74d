import { isJsonObject, type JsonObject } from '@x/schema'
import type { CallOptions } from '../request/call-options.ts'
import { ClientError, unknownTypeResultOf } from '../request/client-error.ts'
import type { MultiRoundMethod, MultiRoundResults } from '../request/input-required.ts'
import type { MultiRoundCalls } from './multi-round-calls.ts'

/** A call in which the server may ask for input, before its first request. */
export interface OutgoingCall {
  readonly method: MultiRoundMethod
  /** Params of each of its requests, without answers and state. */
  readonly params: JsonObject
  readonly options: CallOptions
}

/** How a call ended: with a checked result, or an unchecked one whose `resultType` only an extension may know. */
export type CallOutcome =
  | { readonly resultType: 'complete'; readonly result: MultiRoundResults[MultiRoundMethod] }
  | { readonly resultType: 'other'; readonly result: JsonObject; readonly error: Error }

/** Makes a call, through all its rounds. */
export type SendCall = (call: OutgoingCall) => Promise<CallOutcome>

type WrappedCalls = Pick<MultiRoundCalls, 'callTool' | 'getPrompt' | 'readResource'>

/** This is what extensions wrap. A result with an unknown `resultType` becomes an outcome. */
export function createSendCall({ callTool, getPrompt, readResource }: WrappedCalls): SendCall {
  const sendersByMethod: {
    readonly [M in MultiRoundMethod]: (params: JsonObject, options: CallOptions) => Promise<MultiRoundResults[M]>
  } = {
    'tools/call': (params, options) => callTool(String(params.name), argumentsOf(params), options),
    // The casts are safe: these are the params of `getPrompt`.
    'prompts/get': (params, options) =>
      getPrompt(String(params.name), params.arguments as Record<string, string> | undefined, options),
    'resources/read': (params, options) => readResource(String(params.uri), options),
  }
  return async ({ method, params, options }) => {
    try {
      return { resultType: 'complete', result: await sendersByMethod[method](params, options) }
    } catch (error) {
      const result = unknownTypeResultOf(error)
      // In a list that was read for the call, an unknown `resultType` stays an error, because extensions define types
      // only for such calls.
      if (result === undefined || !(error instanceof ClientError) || error.method !== method) throw error
      return { resultType: 'other', result, error }
    }
  }
}

function argumentsOf({ arguments: args }: JsonObject): JsonObject {
  return isJsonObject(args) ? args : {}
}

/** The client's calls, made of a wrapped call. They reject if no extension handled an unknown `resultType`. */
export function createWrappedCalls(sendCall: SendCall): WrappedCalls {
  const completeCall = async <M extends MultiRoundMethod>(
    call: OutgoingCall & { readonly method: M },
  ): Promise<MultiRoundResults[M]> => {
    const outcome = await sendCall(call)
    if (outcome.resultType === 'other') throw outcome.error
    // The cast is safe: a wrapper returns a result of the method that it was given.
    return outcome.result as MultiRoundResults[M]
  }
  return {
    callTool: (name, args = {}, options = {}) =>
      completeCall({ method: 'tools/call', params: { name, arguments: args }, options }),
    getPrompt: (name, args, options = {}) =>
      completeCall({
        method: 'prompts/get',
        params: args === undefined ? { name } : { name, arguments: args },
        options,
      }),
    readResource: (uri, options = {}) => completeCall({ method: 'resources/read', params: { uri }, options }),
  }
}
