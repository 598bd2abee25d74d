import type { GetPromptResult, ReadResourceResult } from '@x/schema'
import type { CallOptions, ReadOptions } from '../request/call-options.ts'
import { createRunRounds } from './run-rounds.ts'
import { createManualRounds, type ManualRounds } from './manual.ts'
import type { SendOnce } from '../request/request.ts'
import type { RoundsContext } from './send-round.ts'
import { createCallFactory, withIdempotencyKey } from './call-factory.ts'
import type { CallToolFunction, ToolCallFactory } from '../tools/call-tool.ts'

/** Calls in which a server may ask for input (basic/patterns/mrtr, supported requests). */
export interface MultiRoundCalls {
  /** Calls a tool (server/tools, calling tools). */
  callTool: CallToolFunction
  /** Gets a prompt with its arguments filled in (server/prompts, getting a prompt). */
  getPrompt(name: string, args?: Readonly<Record<string, string>>, options?: CallOptions): Promise<GetPromptResult>
  /** Reads a resource (server/resources, reading resources). */
  readResource(uri: string, options?: ReadOptions): Promise<ReadResourceResult>
  /** These calls, one request at a time; you answer the input requests yourself. */
  readonly manualRounds: ManualRounds
}

export function createMultiRoundCalls(
  sendOnce: SendOnce,
  toolCalls: ToolCallFactory,
  context: RoundsContext,
): MultiRoundCalls {
  const runAllRounds = createRunRounds(context)
  const callFactory = createCallFactory(sendOnce, toolCalls)
  return {
    callTool: async (name, args = {}, options = {}) => {
      if (typeof name !== 'string')
        throw new TypeError("callTool takes the name and the arguments of the tool, as in callTool('echo', { text })")
      const preparation = toolCalls.prepareCall(name, options)
      if (preparation) await preparation
      return runAllRounds(toolCalls.create({ name, arguments: args }, withIdempotencyKey(options)))
    },
    getPrompt: (name, args, options = {}) =>
      runAllRounds(
        callFactory.createReadCall(
          'prompts/get',
          args === undefined ? { name } : { name, arguments: args },
          withIdempotencyKey(options),
        ),
      ),
    readResource: (uri, options = {}) =>
      runAllRounds(callFactory.createReadCall('resources/read', { uri }, withIdempotencyKey(options))),
    manualRounds: createManualRounds(callFactory.createCall, context),
  }
}
