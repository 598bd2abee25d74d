import type { CallToolResult, InputRequests, InputResponses, JsonObject } from '@x/schema'
import type { CallOptions } from '../request/call-options.ts'
import { type CallErrorContext, ClientError } from '../request/client-error.ts'
import { parseResult } from '../request/parse-result.ts'
import { checkRound } from './check-round.ts'
import { answerRequests, toInputResponses, type InputAnswers } from './answer-requests.ts'
import { type InputRequired, isInputRequired, parseInputRequired } from '../request/input-required.ts'
import type { RoundsContext } from './send-round.ts'
import type { ToolCallFactory } from '../tools/call-tool.ts'

/** What a server asks for a call of a tool, other than in the response to it: for example with a task. */
export interface ExternalInputRequests {
  /** Name of the tool. */
  readonly name: string
  /** Requests by their keys. The client checks them, so you may pass unchecked JSON. */
  readonly inputRequests: InputRequests | JsonObject
  /** Which round it is, 1 for the call's first input requests. It must not exceed `rounds.maxRounds`. */
  readonly round: number
}

/** A call's steps, for extensions that need further requests to get the result, such as the poll of a task. */
export interface ClientCallSteps {
  /** Address of the connection, if it has one. */
  readonly url: string | undefined
  /**
   * Answers input requests with the handlers of the call or the client. Rejects with `ClientError` for requests of
   * undeclared kinds and for invalid answers (basic/patterns/mrtr).
   */
  answerInput(requiredInput: ExternalInputRequests, options?: CallOptions): Promise<InputResponses>
  /** Checks one answer for each input request, as `client.manualRounds` does. Throws `ClientError`. */
  checkAnswers(requiredInput: ExternalInputRequests, answers: InputAnswers, options?: CallOptions): InputResponses
  /** Checks a tool's result as `callTool` does. Rejects with `ClientError` for an invalid one. */
  checkToolResult(name: string, result: JsonObject, options?: CallOptions): Promise<CallToolResult>
}

export function createClientCallSteps(
  toolCalls: ToolCallFactory,
  roundsContext: RoundsContext,
  url: string | undefined,
): ClientCallSteps {
  const parseExternalRequests = (
    { name, inputRequests, round }: ExternalInputRequests,
    options: CallOptions,
  ): { readonly inputRequired: InputRequired; readonly errorContext: CallErrorContext } => {
    const call = { method: 'tools/call', params: { name }, options } as const
    const errorContext = roundsContext.errorContextOf(call)
    const requiredInput = parseInputRequired({ inputRequests })
    if ('issue' in requiredInput)
      throw new ClientError('invalid_result', `the input request is not valid at ${requiredInput.issue}`, errorContext)
    checkRound(call, { inputRequired: requiredInput, counts: { questions: round, handOffs: 0 } }, roundsContext)
    return { inputRequired: requiredInput, errorContext }
  }
  return {
    url,
    answerInput: async (externalRequests, callOptions = {}) => {
      const { inputRequired, errorContext } = parseExternalRequests(externalRequests, callOptions)
      const { round } = externalRequests
      return answerRequests(inputRequired, { errorContext, round, options: callOptions }, roundsContext)
    },
    checkAnswers: (externalRequests, answers, options = {}) => {
      const { inputRequired, errorContext } = parseExternalRequests(externalRequests, options)
      return toInputResponses(inputRequired, answers, errorContext) ?? {}
    },
    checkToolResult: async (name, result, options = {}) => {
      const preparation = toolCalls.prepareCall(name, options)
      if (preparation) await preparation
      const call = { method: 'tools/call', params: { name } } as const
      const errorContext = roundsContext.errorContextOf(call)
      const outcome = parseResult(call.method, { jsonrpc: '2.0', id: 0, result }, () => errorContext)
      if (isInputRequired(outcome))
        throw new ClientError('invalid_result', 'a final result asks for input', errorContext)
      toolCalls.create(call.params, options).check?.(outcome)
      return outcome
    },
  }
}
