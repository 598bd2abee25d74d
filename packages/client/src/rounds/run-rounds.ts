import type { JsonObject } from '@x/schema'
import { checkRound } from './check-round.ts'
import { answerRequests } from './answer-requests.ts'
import { type InputRequired, type AskingMethod, isRequiredInput } from './input-required.ts'
import { ClientError } from '../client-error.ts'
import type { CompleteResults } from '../request/complete-results.ts'
import { handlersOf, type InputHandlers } from './input-handlers.ts'
import { handOffPause, pauseCall } from './pause.ts'
import { isStateRefused, retryParams } from './retry.ts'
import { type RoundOptions, roundRules } from './round-options.ts'
import { clientClock, type RoundsContext, type AskingCall, sendRound, observerOf } from './asking-call.ts'
import { openWait } from './wait.ts'

/** Runs a call to its complete result, through every round. */
export type RunRounds = <M extends AskingMethod>(trip: AskingCall<M>) => Promise<CompleteResults[M]>

/**
 * Creates the function that runs multi round-trip requests (basic/patterns/mrtr). A call without questions costs
 * nothing more.
 */
export function createRounds(context: RoundsContext): RunRounds {
  return async (trip) => {
    const result = isObserved(trip, context) ? await runWithin(trip, context) : await runUnobserved(trip, context)
    trip.check?.(result)
    return result
  }
}

function isObserved<M extends AskingMethod>({ how }: AskingCall<M>, { options }: RoundsContext): boolean {
  const totalMs = how.rounds?.totalTimeoutMs ?? options.rounds?.totalTimeoutMs
  return totalMs !== undefined || observerOf(how, options) !== undefined
}

async function runUnobserved<M extends AskingMethod>(
  trip: AskingCall<M>,
  context: RoundsContext,
): Promise<CompleteResults[M]> {
  const first = await trip.attempt(trip.params, trip.how)
  return isRequiredInput(first) ? runLoop(startLoop(trip, context), first) : first
}

/** Runs a call with a bound on its whole time, or with a watcher from the first request on. */
async function runWithin<M extends AskingMethod>(
  trip: AskingCall<M>,
  context: RoundsContext,
): Promise<CompleteResults[M]> {
  const { how } = trip
  const timeoutMs = how.rounds?.totalTimeoutMs ?? context.options.rounds?.totalTimeoutMs
  const late = (): ClientError => {
    const why = `not complete within ${timeoutMs} ms, answers included; allow more with rounds.totalTimeoutMs`
    return new ClientError('timeout', why, context.placeOf(trip))
  }
  const whole = openWait({ signal: how.signal, timeoutMs, clock: clientClock(context), late })
  try {
    const walk = startLoop({ ...trip, how: { ...how, signal: whole.signal } }, context)
    return await runLoop(walk, await sendNextRound(walk, trip.params))
  } finally {
    whole.close()
  }
}

/** The loop state of one call. */
interface LoopState<M extends AskingMethod> {
  readonly trip: AskingCall<M>
  readonly context: RoundsContext
  readonly rules: RoundOptions
  readonly handlers: InputHandlers
  /** Requests sent so far. */
  sent: number
  /** Consecutive rounds without a question. */
  pauses: number
  isRestarted: boolean
}

function startLoop<M extends AskingMethod>(trip: AskingCall<M>, context: RoundsContext): LoopState<M> {
  const { options } = context
  const handlers = handlersOf(options, trip.how)
  const rules = roundRules(options.rounds, trip.how.rounds)
  return { trip, context, rules, handlers, sent: 0, pauses: 0, isRestarted: false }
}

async function runLoop<M extends AskingMethod>(
  walk: LoopState<M>,
  first: CompleteResults[M] | InputRequired,
): Promise<CompleteResults[M]> {
  // The first request may have been sent before the loop began.
  walk.sent = 1
  let settled = first
  for (let count = 1; isRequiredInput(settled); count += 1) {
    checkRound(walk.trip, { asked: settled, times: count }, walk.context)
    settled = await retry(walk, await inputOf(walk, settled))
  }
  return settled
}

/** Returns the params of the next request, once every question is answered. */
async function inputOf<M extends AskingMethod>(walk: LoopState<M>, asked: InputRequired): Promise<JsonObject> {
  const { trip, context, rules, handlers } = walk
  const clock = clientClock(context)
  const { signal } = trip.how
  if (asked.requests.size === 0) {
    const { meta } = asked
    await pauseCall(handOffPause({ earlier: walk.pauses, meta, bounds: rules.pauseMs ?? {} }), clock, signal)
    walk.pauses += 1
    return retryParams(trip.params, asked, undefined)
  }
  walk.pauses = 0
  const place = context.placeOf(trip)
  const round = walk.sent
  const timeoutMs = rules.answerTimeoutMs
  const responses = await answerRequests(asked, { handlers, place, round, clock, signal, timeoutMs })
  return retryParams(trip.params, asked, responses)
}

async function retry<M extends AskingMethod>(
  walk: LoopState<M>,
  params: JsonObject,
): Promise<CompleteResults[M] | InputRequired> {
  try {
    return await sendNextRound(walk, params)
  } catch (error) {
    const mayRestart = walk.rules.restart ?? walk.trip.isRepeatable()
    if (walk.isRestarted || !mayRestart || !isStateRefused(error, params)) throw error
    walk.isRestarted = true
    return sendNextRound(walk, walk.trip.params)
  }
}

function sendNextRound<M extends AskingMethod>(
  walk: LoopState<M>,
  params: JsonObject,
): Promise<CompleteResults[M] | InputRequired> {
  walk.sent += 1
  return sendRound(walk.trip, { params, round: walk.sent, isRestarted: walk.isRestarted }, walk.context)
}
