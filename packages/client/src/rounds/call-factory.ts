import type { JsonObject } from '@x/schema'
import type { AskingMethod } from './input-required.ts'
import type { ReadOptions } from '../call-options.ts'
import type { SendOnce } from '../request/request.ts'
import type { AskingCall } from './asking-call.ts'
import type { ToolCalls } from '../tools/call-tool.ts'

/** Creates the requests of a call, of any method. */
export type CreateCall = <M extends AskingMethod>(
  method: M,
  params: JsonObject,
  how: ReadOptions,
) => Promise<AskingCall<M>>

/** The calls that may be asked for input (basic/patterns/mrtr, supported requests). */
export interface CallFactory {
  readonly tool: ToolCalls
  readonly of: CreateCall
  /** The call of a prompt or a resource, which only reads. */
  readonly reading: <M extends AskingMethod>(method: M, params: JsonObject, how: ReadOptions) => AskingCall<M>
}

/** Creates the calls of a client that may have several requests. */
export function createCallFactory(once: SendOnce, tool: ToolCalls): CallFactory {
  const reading: CallFactory['reading'] = (method, params, how) => ({
    method,
    params,
    how,
    attempt: (withInput, options) => once({ method, params: withInput }, options),
    isRepeatable: () => true,
  })
  const table: { readonly [M in AskingMethod]: (params: JsonObject, how: ReadOptions) => Promise<AskingCall<M>> } = {
    'tools/call': async (params, how) => {
      await tool.prepare(String(params.name), how)
      return tool.create(params, how)
    },
    'prompts/get': async (params, how) => reading('prompts/get', params, how),
    'resources/read': async (params, how) => reading('resources/read', params, how),
  }
  return { tool, reading, of: (method, params, how) => table[method](params, how) }
}
