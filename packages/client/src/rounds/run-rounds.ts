import { sleep } from '@x/core'
import type { JsonObject } from '@x/schema'
import { checkRound, countRound, createRetryParams, isRequestStateRejected, type RoundCounts } from './check-round.ts'
import { answerRequests } from './answer-requests.ts'
import { type InputRequired, type MultiRoundMethod, isInputRequired } from '../request/input-required.ts'
import { withEarlierRun } from '../request/client-error.ts'
import type { ClientObserver } from '../request/client-event.ts'
import type { CompleteResults } from '../request/complete-results.ts'
import { computeHandOffDelayMs } from '../request/round-options.ts'
import type { MultiRoundCall } from '../request/multi-round-call.ts'
import { type RoundsContext, sendRound } from './send-round.ts'

/** Runs a call through all its rounds to its complete result. */
export type RunRounds = <M extends MultiRoundMethod>(call: MultiRoundCall<M>) => Promise<CompleteResults[M]>

/** Runs multi round-trip requests (basic/patterns/mrtr). */
export function createRunRounds(context: RoundsContext): RunRounds {
  return async <M extends MultiRoundMethod>(call: MultiRoundCall<M>) => {
    const loopState: LoopState<M> = { call, context, sentRoundCount: 0, roundsWithoutInput: 0, isRestarted: false }
    const { emit } = context.events
    return emit === undefined ? runAndCheck(loopState) : runObservedRounds(loopState, emit)
  }
}

async function runObservedRounds<M extends MultiRoundMethod>(
  loopState: LoopState<M>,
  emit: ClientObserver,
): Promise<CompleteResults[M]> {
  const { call, context } = loopState
  const clock = context.options.runtime
  const startedAt = clock.monotonicNow()
  const { method, target } = context.errorContextOf(call)
  const emitEnd = (error: unknown): void => {
    const durationMs = clock.monotonicNow() - startedAt
    const { options } = call
    emit({ type: 'call', method, target, options, roundCount: loopState.sentRoundCount, durationMs, error })
  }
  try {
    const result = await runAndCheck(loopState)
    emitEnd(undefined)
    return result
  } catch (error) {
    emitEnd(error)
    throw error
  }
}

interface LoopState<M extends MultiRoundMethod> {
  readonly call: MultiRoundCall<M>
  readonly context: RoundsContext
  sentRoundCount: number
  roundsWithoutInput: number
  isRestarted: boolean
}

async function runAndCheck<M extends MultiRoundMethod>(loopState: LoopState<M>): Promise<CompleteResults[M]> {
  const { call } = loopState
  const outcome = await sendNextRound(loopState, call.params)
  const result = isInputRequired(outcome) ? await runFurtherRounds(loopState, outcome) : outcome
  call.check?.(result)
  return result
}

async function runFurtherRounds<M extends MultiRoundMethod>(
  loopState: LoopState<M>,
  firstInput: InputRequired,
): Promise<CompleteResults[M]> {
  let outcome: CompleteResults[M] | InputRequired = firstInput
  let counts = { questions: 0, handOffs: 0 }
  try {
    while (isInputRequired(outcome)) {
      counts = countRound(counts, outcome)
      outcome = await sendRetry(loopState, await collectInputOrAbandon(loopState, outcome, counts))
    }
    return outcome
  } catch (error) {
    throw withEarlierRun(loopState.call.method, error)
  }
}

async function collectInputOrAbandon<M extends MultiRoundMethod>(
  loopState: LoopState<M>,
  requiredInput: InputRequired,
  counts: RoundCounts,
): Promise<JsonObject> {
  try {
    checkRound(loopState.call, { inputRequired: requiredInput, counts }, loopState.context)
    return await collectInput(loopState, requiredInput)
  } catch (error) {
    loopState.context.abandonRound(requiredInput.requestState, error)
    throw error
  }
}

async function collectInput<M extends MultiRoundMethod>(
  loopState: LoopState<M>,
  requiredInput: InputRequired,
): Promise<JsonObject> {
  const { call, context } = loopState
  if (requiredInput.requests.size === 0) {
    const clock = context.options.runtime
    const { signal } = call.options
    const { meta } = requiredInput
    await sleep(computeHandOffDelayMs({ previousHandOffCount: loopState.roundsWithoutInput, meta }), { clock, signal })
    loopState.roundsWithoutInput += 1
    return createRetryParams(call.params, requiredInput, undefined)
  }
  loopState.roundsWithoutInput = 0
  const errorContext = context.errorContextOf(call)
  const asked = { errorContext, round: loopState.sentRoundCount, options: call.options }
  const responses = await answerRequests(requiredInput, asked, context)
  return createRetryParams(call.params, requiredInput, responses)
}

async function sendRetry<M extends MultiRoundMethod>(
  loopState: LoopState<M>,
  params: JsonObject,
): Promise<CompleteResults[M] | InputRequired> {
  try {
    return await sendNextRound(loopState, params)
  } catch (error) {
    if (loopState.isRestarted || !isRequestStateRejected(error, params)) throw error
    const mayRestart = loopState.call.options.rounds?.restart ?? (await loopState.call.isRestartable())
    if (!mayRestart) throw error
    loopState.isRestarted = true
    return sendNextRound(loopState, loopState.call.params)
  }
}

function sendNextRound<M extends MultiRoundMethod>(
  loopState: LoopState<M>,
  params: JsonObject,
): Promise<CompleteResults[M] | InputRequired> {
  loopState.sentRoundCount += 1
  return sendRound(
    loopState.call,
    { params, round: loopState.sentRoundCount, isRestarted: loopState.isRestarted },
    loopState.context,
  )
}
