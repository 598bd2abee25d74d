import { isJsonObject, type JsonObject } from '@x/schema'
import { type InputRequired, type MultiRoundMethod, isInputRequired } from '../request/input-required.ts'
import type { CompleteResults } from '../request/complete-results.ts'
import type { MultiRoundCall } from '../request/multi-round-call.ts'
import type { CallErrorContext } from '../request/client-error.ts'
import type { ClientEventSource } from '../request/client-event.ts'
import type { CoreClientSettings } from '../request/options.ts'

export interface RoundsContext {
  readonly options: CoreClientSettings
  readonly events: ClientEventSource
  readonly errorContextOf: (call: {
    readonly method: MultiRoundMethod
    readonly params: JsonObject
  }) => CallErrorContext
  /** Called when a call ends although the server still waits for answers. */
  readonly abandonRound: (requestState: string | undefined, reason: unknown) => void
}

/** Sends one request of a call, and emits its response as an event. */
export async function sendRound<M extends MultiRoundMethod>(
  call: MultiRoundCall<M>,
  start: { readonly params: JsonObject; readonly round: number; readonly isRestarted: boolean },
  context: RoundsContext,
): Promise<CompleteResults[M] | InputRequired> {
  const { emit } = context.events
  if (emit === undefined) return call.attempt(start.params, call.options)
  const clock = context.options.runtime
  const sentAt = clock.monotonicNow()
  const outcome = await call.attempt(start.params, call.options)
  const durationMs = clock.monotonicNow() - sentAt
  const { method, target } = context.errorContextOf(call)
  const requiredInput = isInputRequired(outcome) ? outcome : undefined
  emit({
    type: 'round',
    method,
    target,
    options: call.options,
    round: start.round,
    status: requiredInput ? 'input_required' : 'complete',
    requests: Object.fromEntries(requiredInput?.requests ?? []),
    stateBytes: new TextEncoder().encode(requiredInput?.requestState ?? '').length,
    durationMs,
    isRestarted: start.isRestarted,
    meta: requiredInput ? requiredInput.meta : metaOfOutcome(outcome),
  })
  return outcome
}

function metaOfOutcome(outcome: object): JsonObject | undefined {
  return '_meta' in outcome && isJsonObject(outcome._meta) ? outcome._meta : undefined
}
