import { randomId } from '@x/core'
import type { JsonObject } from '@x/schema'
import type { MultiRoundMethod } from '../request/input-required.ts'
import type { ReadOptions } from '../request/call-options.ts'
import type { SendOnce } from '../request/request.ts'
import type { MultiRoundCall } from '../request/multi-round-call.ts'
import type { ToolCallFactory } from '../tools/call-tool.ts'

export type CreateCall = <M extends MultiRoundMethod>(
  method: M,
  params: JsonObject,
  options: ReadOptions,
) => Promise<MultiRoundCall<M>>

/** `createReadCall` is for prompts and resources, which only read and may be repeated. */
export function createCallFactory(
  sendOnce: SendOnce,
  toolCalls: ToolCallFactory,
): {
  readonly createCall: CreateCall
  readonly createReadCall: <M extends MultiRoundMethod>(
    method: M,
    params: JsonObject,
    options: ReadOptions,
  ) => MultiRoundCall<M>
} {
  const createReadCall: ReturnType<typeof createCallFactory>['createReadCall'] = (method, params, callOptions) => ({
    method,
    params,
    options: callOptions,
    attempt: (paramsWithInput, options) => sendOnce({ method, params: paramsWithInput }, options),
    isRestartable: () => true,
  })
  const callCreatorsByMethod: {
    readonly [M in MultiRoundMethod]: (params: JsonObject, options: ReadOptions) => Promise<MultiRoundCall<M>>
  } = {
    'tools/call': async (params, options) => {
      await toolCalls.prepareCall(String(params.name), options)
      return toolCalls.create(params, options)
    },
    'prompts/get': async (params, options) => createReadCall('prompts/get', params, options),
    'resources/read': async (params, options) => createReadCall('resources/read', params, options),
  }
  return {
    createReadCall,
    createCall: (method, params, options) => callCreatorsByMethod[method](params, options),
  }
}

/** Adds an idempotency key, which all requests of the call share: the caller's, or a random one. */
export function withIdempotencyKey<T extends { readonly idempotencyKey?: string | undefined }>(options: T): T {
  return options.idempotencyKey === undefined ? { ...options, idempotencyKey: randomId() } : options
}
