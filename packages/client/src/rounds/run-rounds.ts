import type { JsonObject } from '@x/schema'
import { checkRound, isStateRefused, retryParams } from './check-round.ts'
import { answerRequests } from './answer-requests.ts'
import { type InputRequired, type AskingMethod, isRequiredInput } from '../request/input-required.ts'
import { ClientError } from '../request/client-error.ts'
import type { CompleteResults } from '../request/complete-results.ts'
import { handlersOf, type InputHandlers } from '../request/input-handlers.ts'
import { handOffPause, pauseCall } from '../request/pause.ts'
import { type RoundOptions, roundRules } from '../request/round-options.ts'
import { clientClock, type RoundsContext, type AskingCall, sendRound, observerOf } from './asking-call.ts'
import { openWait } from '../request/wait.ts'

/** Runs a call to its complete result, through every round. */
export type RunRounds = <M extends AskingMethod>(call: AskingCall<M>) => Promise<CompleteResults[M]>

/**
 * Creates the function that runs multi round-trip requests (basic/patterns/mrtr). A call without questions costs
 * nothing more.
 */
export function createRounds(context: RoundsContext): RunRounds {
  return async (call) => {
    const result = isObserved(call, context) ? await runWithTimeout(call, context) : await runUnobserved(call, context)
    call.check?.(result)
    return result
  }
}

function isObserved<M extends AskingMethod>(
  { options: callOptions }: AskingCall<M>,
  { options }: RoundsContext,
): boolean {
  const totalMs = callOptions.rounds?.totalTimeoutMs ?? options.rounds?.totalTimeoutMs
  return totalMs !== undefined || observerOf(callOptions, options) !== undefined
}

async function runUnobserved<M extends AskingMethod>(
  call: AskingCall<M>,
  context: RoundsContext,
): Promise<CompleteResults[M]> {
  const first = await call.attempt(call.params, call.options)
  return isRequiredInput(first) ? runLoop(startLoop(call, context), first) : first
}

/** Runs a call with a bound on its whole time, or with a watcher from the first request on. */
async function runWithTimeout<M extends AskingMethod>(
  call: AskingCall<M>,
  context: RoundsContext,
): Promise<CompleteResults[M]> {
  const { options } = call
  const timeoutMs = options.rounds?.totalTimeoutMs ?? context.options.rounds?.totalTimeoutMs
  const late = (): ClientError => {
    const why = `not complete within ${timeoutMs} ms, answers included; allow more with rounds.totalTimeoutMs`
    return new ClientError('timeout', why, context.errorContextOf(call))
  }
  const wait = openWait({ signal: options.signal, timeoutMs, clock: clientClock(context), late })
  try {
    const loop = startLoop({ ...call, options: { ...options, signal: wait.signal } }, context)
    return await runLoop(loop, await sendNextRound(loop, call.params))
  } finally {
    wait.close()
  }
}

/** The loop state of one call. */
interface LoopState<M extends AskingMethod> {
  readonly call: AskingCall<M>
  readonly context: RoundsContext
  readonly rules: RoundOptions
  readonly handlers: InputHandlers
  /** Requests sent so far. */
  sent: number
  /** Consecutive rounds without a question. */
  pauses: number
  isRestarted: boolean
}

function startLoop<M extends AskingMethod>(call: AskingCall<M>, context: RoundsContext): LoopState<M> {
  const { options } = context
  const handlers = handlersOf(options, call.options)
  const rules = roundRules(options.rounds, call.options.rounds)
  return { call, context, rules, handlers, sent: 0, pauses: 0, isRestarted: false }
}

async function runLoop<M extends AskingMethod>(
  loop: LoopState<M>,
  first: CompleteResults[M] | InputRequired,
): Promise<CompleteResults[M]> {
  // The first request may have been sent before the loop began.
  loop.sent = 1
  let outcome = first
  for (let count = 1; isRequiredInput(outcome); count += 1) {
    checkRound(loop.call, { asked: outcome, times: count }, loop.context)
    outcome = await retry(loop, await inputOf(loop, outcome))
  }
  return outcome
}

/** Returns the params of the next request, once every question is answered. */
async function inputOf<M extends AskingMethod>(loop: LoopState<M>, asked: InputRequired): Promise<JsonObject> {
  const { call, context, rules, handlers } = loop
  const clock = clientClock(context)
  const { signal } = call.options
  if (asked.requests.size === 0) {
    const { meta } = asked
    await pauseCall(handOffPause({ earlier: loop.pauses, meta, bounds: rules.pauseMs ?? {} }), clock, signal)
    loop.pauses += 1
    return retryParams(call.params, asked, undefined)
  }
  loop.pauses = 0
  const errorContext = context.errorContextOf(call)
  const round = loop.sent
  const timeoutMs = rules.answerTimeoutMs
  const responses = await answerRequests(asked, { handlers, errorContext, round, clock, signal, timeoutMs })
  return retryParams(call.params, asked, responses)
}

async function retry<M extends AskingMethod>(
  loop: LoopState<M>,
  params: JsonObject,
): Promise<CompleteResults[M] | InputRequired> {
  try {
    return await sendNextRound(loop, params)
  } catch (error) {
    const mayRestart = loop.rules.restart ?? loop.call.isRepeatable()
    if (loop.isRestarted || !mayRestart || !isStateRefused(error, params)) throw error
    loop.isRestarted = true
    return sendNextRound(loop, loop.call.params)
  }
}

function sendNextRound<M extends AskingMethod>(
  loop: LoopState<M>,
  params: JsonObject,
): Promise<CompleteResults[M] | InputRequired> {
  loop.sent += 1
  return sendRound(loop.call, { params, round: loop.sent, isRestarted: loop.isRestarted }, loop.context)
}
