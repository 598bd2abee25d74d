import { type Clock, isJsonObject, type JsonObject, platformClock } from '@x/schema'
import { type Asked, type AskingMethod, isAsked } from './asked.ts'
import type { CompleteResults } from '../request/complete-results.ts'
import type { ReadOptions } from '../call-options.ts'
import type { CallPlace } from '../client-error.ts'
import type { ClientOptions } from '../options.ts'
import type { RoundView } from './round-options.ts'

/** A call that may take several requests. */
export interface RoundTrip<M extends AskingMethod> {
  readonly method: M
  /** What every request of the call carries, beside answers and state. */
  readonly params: JsonObject
  readonly how: ReadOptions
  /** Sends one request of the call. */
  readonly attempt: (params: JsonObject, how: ReadOptions) => Promise<CompleteResults[M] | Asked>
  /** Whether doing again what earlier rounds did is known to harm nothing. */
  readonly isRepeatable: () => boolean
  /** Judges the complete result; throws what the call rejects with. */
  readonly check?: ((result: CompleteResults[M]) => void) | undefined
}

/** What the rounds of a client share. */
export interface RoundsContext {
  readonly options: ClientOptions
  readonly placeOf: (call: { readonly method: AskingMethod; readonly params: JsonObject }) => CallPlace
}

/** One request of a call, by its number. */
export interface RoundStart {
  readonly params: JsonObject
  readonly round: number
  readonly isRestarted: boolean
}

/** The clock that a client waits by. */
export function clockOf({ options }: RoundsContext): Clock {
  return options.clock ?? platformClock
}

/** Who watches the rounds of a call. */
export function watcherOf(how: ReadOptions, options: ClientOptions): ((round: RoundView) => void) | undefined {
  return how.rounds?.onRound ?? options.rounds?.onRound
}

/** Sends one request of a call, and tells whoever watches what came. */
export async function takeRound<M extends AskingMethod>(
  trip: RoundTrip<M>,
  start: RoundStart,
  context: RoundsContext,
): Promise<CompleteResults[M] | Asked> {
  const watch = watcherOf(trip.how, context.options)
  if (!watch) return trip.attempt(start.params, trip.how)
  const clock = clockOf(context)
  const sent = clock.now()
  const settled = await trip.attempt(start.params, trip.how)
  const durationMs = clock.now() - sent
  const { method, target } = context.placeOf(trip)
  const asked = isAsked(settled) ? settled : undefined
  watch({
    method,
    target,
    round: start.round,
    status: asked ? 'input_required' : 'complete',
    requests: Object.fromEntries(asked?.requests ?? []),
    stateBytes: new TextEncoder().encode(asked?.state ?? '').length,
    durationMs,
    isRestarted: start.isRestarted,
    meta: asked ? asked.meta : metaOf(settled),
  })
  return settled
}

function metaOf(settled: object): JsonObject | undefined {
  return '_meta' in settled && isJsonObject(settled._meta) ? settled._meta : undefined
}
