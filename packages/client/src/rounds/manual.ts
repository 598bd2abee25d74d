import type { InputRequests, JsonObject } from '@x/schema'
import { admitRound } from './admit-round.ts'
import { checkAnswers, type InputAnswers } from './answer-requests.ts'
import { type Asked, type AskingMethod, type AskingResults, isAsked } from './asked.ts'
import type { CallOptions, ReadOptions } from '../call-options.ts'
import { ClientError } from '../client-error.ts'
import { type ParsedPending, parsePending, type PendingCall } from './pending-call.ts'
import { retryParams } from './retry.ts'
import { type RoundsContext, type RoundTrip, takeRound } from './round-trip.ts'
import type { TripOf } from './trips.ts'

/** What came of one request of a call: its result, or what the server wants first. */
export type Round<M extends AskingMethod> =
  | { readonly status: 'complete'; readonly result: AskingResults[M] }
  | AskedRound<M>

/** A call that waits for its caller. */
export interface AskedRound<M extends AskingMethod> {
  readonly status: 'input_required'
  /** What to answer, by the server's keys; empty when the server only wants the call again. */
  readonly requests: InputRequests
  /** The call as plain JSON, for `client.manual.resume`, in this process or another. Nothing of the options is in it. */
  readonly pending: PendingCall<M>
  /** Sends the answers, one for each key, and goes on. Options are as for the call, and none are carried over. */
  readonly resume: (answers: InputAnswers, options?: CallOptions) => Promise<Round<M>>
}

/**
 * Calls whose rounds the caller sees (basic/patterns/mrtr). No handler is asked: declare what can be answered in
 * `capabilities`. Answers are checked as those of handlers are; nothing is paused for or started afresh.
 */
export interface Manual {
  callTool(name: string, args?: JsonObject, options?: CallOptions): Promise<Round<'tools/call'>>
  getPrompt(name: string, args?: Readonly<Record<string, string>>, options?: CallOptions): Promise<Round<'prompts/get'>>
  readResource(uri: string, options?: ReadOptions): Promise<Round<'resources/read'>>
  /** Goes on with a call that was kept; rejects with `ClientError` `invalid_pending` for what is no pending call. */
  resume<M extends AskingMethod>(
    pending: PendingCall<M>,
    answers: InputAnswers,
    options?: CallOptions,
  ): Promise<Round<M>>
}

/** The calls of a client that show their rounds. */
export function createManual(tripOf: TripOf, context: RoundsContext): Manual {
  const step = async <M extends AskingMethod>(trip: RoundTrip<M>, start: Start): Promise<Round<M>> => {
    const settled = await takeRound(trip, { ...start, isRestarted: false }, context)
    if (isAsked(settled)) return askedRound(trip, settled, start.round)
    trip.check?.(settled)
    return { status: 'complete', result: settled }
  }

  const askedRound = <M extends AskingMethod>(trip: RoundTrip<M>, asked: Asked, round: number): AskedRound<M> => {
    admitRound(trip, { asked, times: round }, context)
    const { method, params } = trip
    const requests = Object.fromEntries(asked.requests)
    const pending = { method, params, requests, ...(asked.state !== undefined && { state: asked.state }), round }
    return {
      status: 'input_required',
      requests,
      pending,
      resume: async (answers, how = {}) => goOn(await tripOf(method, params, how), { asked, round }, answers),
    }
  }

  const goOn = <M extends AskingMethod>(
    trip: RoundTrip<M>,
    { asked, round }: Pick<ParsedPending, 'asked' | 'round'>,
    answers: InputAnswers,
  ): Promise<Round<M>> => {
    const responses = checkAnswers(asked, answers, context.placeOf(trip))
    return step(trip, { params: retryParams(trip.params, asked, responses), round: round + 1 })
  }

  const begin = async <M extends AskingMethod>(method: M, params: JsonObject, how: ReadOptions): Promise<Round<M>> =>
    step(await tripOf(method, params, how), { params, round: 1 })

  return {
    callTool: (name, args = {}, how = {}) => begin('tools/call', { name, arguments: args }, how),
    getPrompt: (name, args, how = {}) =>
      begin('prompts/get', args === undefined ? { name } : { name, arguments: args }, how),
    readResource: (uri, how = {}) => begin('resources/read', { uri }, how),
    resume: async (pending, answers, how = {}) => {
      const parsed = parsePending(pending)
      if ('issue' in parsed) {
        throw new ClientError('invalid_pending', `this is no pending call: ${parsed.issue}`, { method: 'resume' })
      }
      // The method that was read is the one that the type names: it is a field of the same value.
      const method = parsed.method as typeof pending.method
      return goOn(await tripOf(method, parsed.params, how), parsed, answers)
    },
  }
}

interface Start {
  readonly params: JsonObject
  readonly round: number
}
