import type { JsonObject } from '@x/schema'
import { admitRound } from './admit-round.ts'
import { answerRequests } from './answer-requests.ts'
import { type Asked, type AskingMethod, isAsked } from './asked.ts'
import { ClientError } from '../client-error.ts'
import type { CompleteResults } from '../request/complete-results.ts'
import { handlersOf, type InputHandlers } from './input-handlers.ts'
import { pause, pauseOf } from './pause.ts'
import { isStateRefused, retryParams } from './retry.ts'
import { type RoundOptions, roundRules } from './round-options.ts'
import { clockOf, type RoundsContext, type RoundTrip, takeRound, watcherOf } from './round-trip.ts'
import { openWait } from './wait.ts'

/** Runs a call to its complete result, whatever the server asks on the way. */
export type RunRounds = <M extends AskingMethod>(trip: RoundTrip<M>) => Promise<CompleteResults[M]>

/** A client's way through multi round-trip requests (basic/patterns/mrtr). A call that is not asked anything pays nothing. */
export function createRounds(context: RoundsContext): RunRounds {
  return async (trip) => {
    const result = isObserved(trip, context) ? await driveWithin(trip, context) : await startQuickly(trip, context)
    trip.check?.(result)
    return result
  }
}

function isObserved<M extends AskingMethod>({ how }: RoundTrip<M>, { options }: RoundsContext): boolean {
  const totalMs = how.rounds?.totalTimeoutMs ?? options.rounds?.totalTimeoutMs
  return totalMs !== undefined || watcherOf(how, options) !== undefined
}

async function startQuickly<M extends AskingMethod>(
  trip: RoundTrip<M>,
  context: RoundsContext,
): Promise<CompleteResults[M]> {
  const first = await trip.attempt(trip.params, trip.how)
  return isAsked(first) ? drive(begin(trip, context), first) : first
}

/** A call with a bound on its whole time, or with somebody who watches from the first request on. */
async function driveWithin<M extends AskingMethod>(
  trip: RoundTrip<M>,
  context: RoundsContext,
): Promise<CompleteResults[M]> {
  const { how } = trip
  const timeoutMs = how.rounds?.totalTimeoutMs ?? context.options.rounds?.totalTimeoutMs
  const late = (): ClientError => {
    const why = `not complete within ${timeoutMs} ms, answers included; allow more with rounds.totalTimeoutMs`
    return new ClientError('timeout', why, context.placeOf(trip))
  }
  const whole = openWait({ signal: how.signal, timeoutMs, clock: clockOf(context), late })
  try {
    const walk = begin({ ...trip, how: { ...how, signal: whole.signal } }, context)
    return await drive(walk, await send(walk, trip.params))
  } finally {
    whole.close()
  }
}

/** A call on its way through its rounds. */
interface Walk<M extends AskingMethod> {
  readonly trip: RoundTrip<M>
  readonly context: RoundsContext
  readonly rules: RoundOptions
  readonly handlers: InputHandlers
  /** How many requests were sent. */
  sent: number
  /** How many rounds in a row asked nobody. */
  pauses: number
  isRestarted: boolean
}

function begin<M extends AskingMethod>(trip: RoundTrip<M>, context: RoundsContext): Walk<M> {
  const { options } = context
  const handlers = handlersOf(options, trip.how)
  const rules = roundRules(options.rounds, trip.how.rounds)
  return { trip, context, rules, handlers, sent: 0, pauses: 0, isRestarted: false }
}

async function drive<M extends AskingMethod>(
  walk: Walk<M>,
  first: CompleteResults[M] | Asked,
): Promise<CompleteResults[M]> {
  // The first request may have been sent before the walk began.
  walk.sent = 1
  let settled = first
  for (let count = 1; isAsked(settled); count += 1) {
    admitRound(walk.trip, { asked: settled, times: count }, walk.context)
    settled = await retry(walk, await inputOf(walk, settled))
  }
  return settled
}

/** The params of the next request, once everything that was asked is answered. */
async function inputOf<M extends AskingMethod>(walk: Walk<M>, asked: Asked): Promise<JsonObject> {
  const { trip, context, rules, handlers } = walk
  const clock = clockOf(context)
  const { signal } = trip.how
  if (asked.requests.size === 0) {
    await pause(pauseOf(walk.pauses, rules.pauseMs ?? {}), clock, signal)
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

async function retry<M extends AskingMethod>(walk: Walk<M>, params: JsonObject): Promise<CompleteResults[M] | Asked> {
  try {
    return await send(walk, params)
  } catch (error) {
    const mayRestart = walk.rules.restart ?? walk.trip.isRepeatable()
    if (walk.isRestarted || !mayRestart || !isStateRefused(error, params)) throw error
    walk.isRestarted = true
    return send(walk, walk.trip.params)
  }
}

function send<M extends AskingMethod>(walk: Walk<M>, params: JsonObject): Promise<CompleteResults[M] | Asked> {
  walk.sent += 1
  return takeRound(walk.trip, { params, round: walk.sent, isRestarted: walk.isRestarted }, walk.context)
}
