import type { InputRequests, JsonObject } from '@x/schema'
import { checkRound, countRound, createRetryParams, type RoundCounts } from './check-round.ts'
import { toInputResponses, type InputAnswers } from './answer-requests.ts'
import {
  type InputRequired,
  type MultiRoundMethod,
  type MultiRoundResults,
  isInputRequired,
} from '../request/input-required.ts'
import type { CallOptions, ReadOptions } from '../request/call-options.ts'
import { ClientError, withEarlierRun } from '../request/client-error.ts'
import { parsePendingCall, type PendingCall } from './pending-call.ts'
import { withIdempotencyKey, type CreateCall } from './call-factory.ts'
import type { MultiRoundCall } from '../request/multi-round-call.ts'
import { type RoundsContext, sendRound } from './send-round.ts'

/** What one request of a call gave: the complete result, or the input that the server requires. */
export type Round<M extends MultiRoundMethod> =
  | { readonly status: 'complete'; readonly result: MultiRoundResults[M] }
  | InputRequiredRound<M>

/** A request of a call that waits for your answers. */
export interface InputRequiredRound<M extends MultiRoundMethod> {
  readonly status: 'input_required'
  /** What the server asks, by key. Empty for a hand-off; then call `resume` with an empty object. */
  readonly requests: InputRequests
  /** The call as plain JSON, for `client.manualRounds.resume` in this process or another. It contains no options. */
  readonly pendingCall: PendingCall<M>
  /**
   * Sends one answer for each key, and continues the call. Only the options given here apply, not those of earlier
   * rounds.
   */
  readonly resume: (answers: InputAnswers, options?: CallOptions) => Promise<Round<M>>
}

/**
 * Calls whose questions you answer yourself, round by round (basic/patterns/mrtr). No handler is called, so declare the
 * kinds of questions in `capabilities`. Answers are checked like those of handlers. A call neither pauses before a
 * retry nor restarts.
 */
export interface ManualRounds {
  callTool(name: string, args?: JsonObject, options?: CallOptions): Promise<Round<'tools/call'>>
  getPrompt(name: string, args?: Readonly<Record<string, string>>, options?: CallOptions): Promise<Round<'prompts/get'>>
  readResource(uri: string, options?: ReadOptions): Promise<Round<'resources/read'>>
  /** Continues a serialized call. Rejects with `ClientError` `invalid_pending` for any other value. */
  resume<M extends MultiRoundMethod>(
    pendingCall: PendingCall<M>,
    answers: InputAnswers,
    options?: CallOptions,
  ): Promise<Round<M>>
}

export function createManualRounds(createCall: CreateCall, context: RoundsContext): ManualRounds {
  // `counts` has the call's `input_required` results before this request.
  const runRound = async <M extends MultiRoundMethod>(
    call: MultiRoundCall<M>,
    params: JsonObject,
    counts: RoundCounts,
  ): Promise<Round<M>> => {
    const round = counts.questions + counts.handOffs + 1
    const outcome = await sendRound(call, { params, round, isRestarted: false }, context)
    if (isInputRequired(outcome)) return createInputRequiredRound(call, outcome, countRound(counts, outcome))
    call.check?.(outcome)
    return { status: 'complete', result: outcome }
  }

  const createInputRequiredRound = <M extends MultiRoundMethod>(
    call: MultiRoundCall<M>,
    requiredInput: InputRequired,
    counts: RoundCounts,
  ): InputRequiredRound<M> => {
    checkRound(call, { inputRequired: requiredInput, counts }, context)
    const { method, params } = call
    const pendingCall = createPendingCall(call, requiredInput, counts)
    return {
      status: 'input_required',
      requests: pendingCall.requests,
      pendingCall,
      resume: (answers, options = {}) =>
        resumeRound({ method, params, inputRequired: requiredInput, counts }, answers, options),
    }
  }

  const resumeRound = async <M extends MultiRoundMethod>(
    { method, params, inputRequired, counts }: WaitingCall<M>,
    answers: InputAnswers,
    options: CallOptions,
  ): Promise<Round<M>> => {
    try {
      const call = await createCall(method, params, options)
      const responses = toInputResponses(inputRequired, answers, context.errorContextOf(call))
      return await runRound(call, createRetryParams(call.params, inputRequired, responses), counts)
    } catch (error) {
      throw withEarlierRun(method, error)
    }
  }

  const startRounds = async <M extends MultiRoundMethod>(
    method: M,
    params: JsonObject,
    options: ReadOptions,
  ): Promise<Round<M>> => runRound(await createCall(method, params, withIdempotencyKey(options)), params, noRounds)

  return {
    callTool: (name, args = {}, options = {}) => startRounds('tools/call', { name, arguments: args }, options),
    getPrompt: (name, args, options = {}) =>
      startRounds('prompts/get', args === undefined ? { name } : { name, arguments: args }, options),
    readResource: (uri, options = {}) => startRounds('resources/read', { uri }, options),
    resume: async (pendingCall, answers, options = {}) => {
      const { params, inputRequired, counts, ...parsedCall } = toWaitingCall(pendingCall)
      // The cast is safe: the parsed method is a member of the same value as the type.
      const method = parsedCall.method as typeof pendingCall.method
      return resumeRound({ method, params, inputRequired, counts }, answers, options)
    },
  }
}

interface WaitingCall<M extends MultiRoundMethod> extends Pick<MultiRoundCall<M>, 'method' | 'params'> {
  readonly inputRequired: InputRequired
  readonly counts: RoundCounts
}

function toWaitingCall(pendingCall: unknown): WaitingCall<MultiRoundMethod> {
  const parsedCall = parsePendingCall(pendingCall)
  if ('issue' in parsedCall) {
    const reason = `this is not a pending call: ${parsedCall.issue}`
    throw new ClientError('invalid_pending', reason, { method: 'resume' })
  }
  const { method, params, inputRequired, round, handOffs } = parsedCall
  return { method, params, inputRequired, counts: { questions: round - handOffs, handOffs } }
}

const noRounds: RoundCounts = { questions: 0, handOffs: 0 }

function createPendingCall<M extends MultiRoundMethod>(
  { method, params }: MultiRoundCall<M>,
  { requests, requestState }: InputRequired,
  { questions, handOffs }: RoundCounts,
): PendingCall<M> {
  return {
    method,
    params,
    requests: Object.fromEntries(requests),
    ...(requestState !== undefined && { state: requestState }),
    round: questions + handOffs,
    ...(handOffs > 0 && { handOffs }),
  }
}
