import type { GetPromptResult, ReadResourceResult } from '@x/schema'
import type { CallOptions, ReadOptions } from '../call-options.ts'
import { createRounds } from './drive-rounds.ts'
import { createManual, type Manual } from './manual.ts'
import type { SendOnce } from '../request/request.ts'
import type { RoundsContext } from './round-trip.ts'
import { createTrips } from './trips.ts'
import type { CallTool, ToolTrips } from '../tools/call-tool.ts'

/** The calls in which a server may ask for input (basic/patterns/mrtr, supported requests). */
export interface AskingCalls {
  /** Calls a tool (server/tools, calling tools). */
  callTool: CallTool
  /** A prompt with its arguments filled in (server/prompts, getting a prompt). */
  getPrompt(name: string, args?: Readonly<Record<string, string>>, options?: CallOptions): Promise<GetPromptResult>
  /** The contents of a resource (server/resources, reading resources). */
  readResource(uri: string, options?: ReadOptions): Promise<ReadResourceResult>
  /** The same calls, one request at a time, with what the server asks left to the caller. */
  readonly manual: Manual
}

/** Makes the calls that may go through several rounds. */
export function createAskingCalls(once: SendOnce, tools: ToolTrips, context: RoundsContext): AskingCalls {
  const run = createRounds(context)
  const trips = createTrips(once, tools)
  return {
    callTool: async (name, args = {}, how = {}) => {
      const preparation = tools.prepare(name, how)
      if (preparation) await preparation
      return run(tools.trip({ name, arguments: args }, how))
    },
    getPrompt: (name, args, how = {}) =>
      run(trips.reading('prompts/get', args === undefined ? { name } : { name, arguments: args }, how)),
    readResource: (uri, how = {}) => run(trips.reading('resources/read', { uri }, how)),
    manual: createManual(trips.of, context),
  }
}
