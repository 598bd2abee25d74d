import { openAbortScope, sleep } from '@x/core'
import type { JsonObject } from '@x/schema'
import { checkRound, countRound, createRetryParams, isRequestStateRejected, type RoundCounts } from './check-round.ts'
import { answerRequests } from './answer-requests.ts'
import { type InputRequired, type MultiRoundMethod, isInputRequired } from '../request/input-required.ts'
import { ClientError } from '../request/client-error.ts'
import type { CompleteResults } from '../request/complete-results.ts'
import { mergeHandlers, type InputHandlers } from '../request/input-handlers.ts'
import { computeHandOffDelayMs, mergeRoundOptions, type RoundOptions } from '../request/round-options.ts'
import { clockOf, type RoundsContext, type MultiRoundCall, sendRound, findRoundListener } from './multi-round-call.ts'

/** Runs a call to its complete result, through every round. */
export type RunRounds = <M extends MultiRoundMethod>(call: MultiRoundCall<M>) => Promise<CompleteResults[M]>

/**
 * Creates the function that runs multi round-trip requests (basic/patterns/mrtr). A call without questions costs
 * nothing more.
 */
export function createRunRounds(context: RoundsContext): RunRounds {
  return async (call) => {
    const result = hasTimeoutOrListener(call, context)
      ? await runWithTimeout(call, context)
      : await runWithoutTimeout(call, context)
    call.check?.(result)
    return result
  }
}

function hasTimeoutOrListener<M extends MultiRoundMethod>(
  { options: callOptions }: MultiRoundCall<M>,
  { options }: RoundsContext,
): boolean {
  const totalMs = callOptions.rounds?.totalTimeoutMs ?? options.rounds?.totalTimeoutMs
  return totalMs !== undefined || findRoundListener(callOptions, options) !== undefined
}

async function runWithoutTimeout<M extends MultiRoundMethod>(
  call: MultiRoundCall<M>,
  context: RoundsContext,
): Promise<CompleteResults[M]> {
  const firstOutcome = await call.attempt(call.params, call.options)
  return isInputRequired(firstOutcome) ? runRoundLoop(createLoopState(call, context), firstOutcome) : firstOutcome
}

/** Runs a call with a bound on its whole time, or with a watcher from the first request on. */
async function runWithTimeout<M extends MultiRoundMethod>(
  call: MultiRoundCall<M>,
  context: RoundsContext,
): Promise<CompleteResults[M]> {
  const { options } = call
  const timeoutMs = options.rounds?.totalTimeoutMs ?? context.options.rounds?.totalTimeoutMs
  const roundsTimeoutError = (): ClientError => {
    const reason = `not complete within ${timeoutMs} ms, answers included; allow more with rounds.totalTimeoutMs`
    return new ClientError('timeout', reason, context.errorContextOf(call))
  }
  const abortScope = openAbortScope(options.signal, {
    timeoutMs,
    clock: clockOf(context),
    createTimeoutError: roundsTimeoutError,
  })
  try {
    const loopState = createLoopState({ ...call, options: { ...options, signal: abortScope.signal } }, context)
    return await runRoundLoop(loopState, await sendNextRound(loopState, call.params))
  } finally {
    abortScope.close()
  }
}

/** The loop state of one call. */
interface LoopState<M extends MultiRoundMethod> {
  readonly call: MultiRoundCall<M>
  readonly context: RoundsContext
  readonly mergedOptions: RoundOptions
  readonly handlers: InputHandlers
  /** Requests sent so far. */
  sentRoundCount: number
  /** Consecutive rounds without a question. */
  roundsWithoutInput: number
  isRestarted: boolean
}

function createLoopState<M extends MultiRoundMethod>(call: MultiRoundCall<M>, context: RoundsContext): LoopState<M> {
  const { options } = context
  const handlers = mergeHandlers(options, call.options)
  const roundOptions = mergeRoundOptions(options.rounds, call.options.rounds)
  return {
    call,
    context,
    mergedOptions: roundOptions,
    handlers,
    sentRoundCount: 0,
    roundsWithoutInput: 0,
    isRestarted: false,
  }
}

async function runRoundLoop<M extends MultiRoundMethod>(
  loopState: LoopState<M>,
  firstOutcome: CompleteResults[M] | InputRequired,
): Promise<CompleteResults[M]> {
  // The first request may have been sent before the loop began.
  loopState.sentRoundCount = 1
  let outcome = firstOutcome
  let counts = { questions: 0, handOffs: 0 }
  while (isInputRequired(outcome)) {
    counts = countRound(counts, outcome)
    outcome = await sendRetry(loopState, await collectInputOrAbandon(loopState, outcome, counts))
  }
  return outcome
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

/** Returns the params of the next request, once every question is answered. */
async function collectInput<M extends MultiRoundMethod>(
  loopState: LoopState<M>,
  requiredInput: InputRequired,
): Promise<JsonObject> {
  const { call, context, mergedOptions, handlers } = loopState
  const clock = clockOf(context)
  const { signal } = call.options
  if (requiredInput.requests.size === 0) {
    const { meta } = requiredInput
    await sleep(
      computeHandOffDelayMs({
        previousHandOffCount: loopState.roundsWithoutInput,
        meta,
        bounds: mergedOptions.pauseBounds ?? {},
      }),
      {
        clock,
        signal,
      },
    )
    loopState.roundsWithoutInput += 1
    return createRetryParams(call.params, requiredInput, undefined)
  }
  loopState.roundsWithoutInput = 0
  const errorContext = context.errorContextOf(call)
  const round = loopState.sentRoundCount
  const timeoutMs = mergedOptions.answerTimeoutMs
  const responses = await answerRequests(requiredInput, { handlers, errorContext, round, clock, signal, timeoutMs })
  return createRetryParams(call.params, requiredInput, responses)
}

async function sendRetry<M extends MultiRoundMethod>(
  loopState: LoopState<M>,
  params: JsonObject,
): Promise<CompleteResults[M] | InputRequired> {
  try {
    return await sendNextRound(loopState, params)
  } catch (error) {
    const mayRestart = loopState.mergedOptions.restart ?? loopState.call.isRestartable()
    if (loopState.isRestarted || !mayRestart || !isRequestStateRejected(error, params)) throw error
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
