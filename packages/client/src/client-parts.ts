import type { CallToolResult, InputRequests, InputResponses, JsonObject } from '@x/schema'
import type { CallOptions } from './call-options.ts'
import { type CallPlace, ClientError } from './client-error.ts'
import type { ClientOptions } from './options.ts'
import { placeOf, type Seen } from './request/request.ts'
import { settleResult } from './request/settle-result.ts'
import { admitRound } from './rounds/admit-round.ts'
import { answerRequests, checkAnswers, type InputAnswers } from './rounds/answer-requests.ts'
import { type Asked, isAsked, parseAsked } from './rounds/asked.ts'
import { handlersOf } from './rounds/input-handlers.ts'
import { clockOf, type RoundsContext } from './rounds/round-trip.ts'
import type { ToolTrips } from './tools/call-tool.ts'

/** What a server asks on behalf of a tool's call, and not in the response to it. */
export interface AskedElsewhere {
  /** The tool. */
  readonly name: string
  /** The requests by their keys. They are checked here, whatever their type says. */
  readonly inputRequests: InputRequests | JsonObject
  /** How often the call has been asked, this time included; `rounds.limit` bounds it. */
  readonly round: number
}

/** Steps of a client's calls, for extensions in which a call goes on by other ways. */
export interface ClientParts {
  /** Where the client's exchange leads, as far as it says so. */
  readonly url: string | undefined
  /**
   * Answers what a server asks as in the rounds of a call: nothing that was not declared, by the handlers of the call or the client,
   * and only with answers that were asked for (basic/patterns/mrtr). Rejects with `ClientError`.
   */
  answerInput(asked: AskedElsewhere, options?: CallOptions): Promise<InputResponses>
  /** Checks answers to what a server asks, one for each request, as `client.manual` does. Throws `ClientError`. */
  checkAnswers(asked: AskedElsewhere, answers: InputAnswers, options?: CallOptions): InputResponses
  /** Checks what came as the result of a tool, as `callTool` does. Rejects with `ClientError`. */
  settleTool(name: string, result: JsonObject, options?: CallOptions): Promise<CallToolResult>
}

interface PartsContext {
  readonly tools: ToolTrips
  readonly options: ClientOptions
  readonly seen: Seen
}

interface Admitted {
  readonly asked: Asked
  readonly place: CallPlace
}

/** Makes the {@link ClientParts} of a client. */
export function createParts({ tools, options, seen }: PartsContext): ClientParts {
  const rounds: RoundsContext = { options, placeOf: (call) => placeOf(call, seen) }
  const admit = ({ name, inputRequests, round }: AskedElsewhere, how: CallOptions): Admitted => {
    const call = { method: 'tools/call', params: { name }, how } as const
    const place = rounds.placeOf(call)
    const asked = parseAsked({ inputRequests })
    if ('issue' in asked) throw new ClientError('invalid_result', `what it asks is not valid at ${asked.issue}`, place)
    admitRound(call, { asked, times: round }, rounds)
    return { asked, place }
  }
  return {
    url: seen.url,
    answerInput: async (elsewhere, how = {}) => {
      const { asked, place } = admit(elsewhere, how)
      const { round } = elsewhere
      const timeoutMs = how.rounds?.answerTimeoutMs ?? options.rounds?.answerTimeoutMs
      const handlers = handlersOf(options, how)
      return answerRequests(asked, { handlers, place, round, clock: clockOf(rounds), signal: how.signal, timeoutMs })
    },
    checkAnswers: (elsewhere, answers, how = {}) => {
      const { asked, place } = admit(elsewhere, how)
      return checkAnswers(asked, answers, place) ?? {}
    },
    settleTool: async (name, result, how = {}) => {
      const preparation = tools.prepare(name, how)
      if (preparation) await preparation
      const call = { method: 'tools/call', params: { name } } as const
      const place = rounds.placeOf(call)
      const settled = settleResult(call.method, { jsonrpc: '2.0', id: 0, result }, () => place)
      if (isAsked(settled)) throw new ClientError('invalid_result', 'a result that is final asks for input', place)
      tools.trip(call.params, how).check?.(settled)
      return settled
    },
  }
}
