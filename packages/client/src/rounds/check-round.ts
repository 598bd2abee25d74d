import { errorCodes, type InputResponses, isJsonObject, type JsonObject } from '@x/schema'
import type { InputRequired, MultiRoundMethod } from '../request/input-required.ts'
import { ClientError, isClientError } from '../request/client-error.ts'
import { declaredCapabilities } from '../request/input-handlers.ts'
import { roundDefaults } from '../request/round-options.ts'
import { checkInputRequests } from './input-kinds.ts'
import type { MultiRoundCall } from '../request/multi-round-call.ts'
import type { RoundsContext } from './send-round.ts'

/** How many `input_required` results a call has had so far, with the last one. */
export interface RoundCounts {
  /** Results with at least one question. */
  readonly questions: number
  /** Results with a state but no question, by which the server hands the call off to another instance. */
  readonly handOffs: number
}

/**
 * Hand-offs that one call may have. Each deployment can hand a long call off several times, so this limit is far above
 * that of questions; it ends only a call that the server would hand off forever.
 */
// limit: hand-offs | count | results of one call with a state and no question | the call is rejected
export const maxHandOffs = 100

export function countRound({ questions, handOffs }: RoundCounts, { requests }: InputRequired): RoundCounts {
  return requests.size > 0 ? { questions: questions + 1, handOffs } : { questions, handOffs: handOffs + 1 }
}

/**
 * Throws, before any handler runs, if a round exceeds a limit or contains requests that this client must not answer.
 */
export function checkRound<M extends MultiRoundMethod>(
  call: Pick<MultiRoundCall<M>, 'method' | 'params' | 'options'>,
  { inputRequired, counts }: { readonly inputRequired: InputRequired; readonly counts: RoundCounts },
  { options, errorContextOf }: RoundsContext,
): void {
  const { maxRounds = roundDefaults.maxRounds } = call.options.rounds ?? {}
  const errorContext = errorContextOf(call)
  if (counts.handOffs > maxHandOffs) {
    const reason = `the server handed the call off more than ${maxHandOffs} times`
    throw new ClientError('too_many_rounds', reason, errorContext)
  }
  // Negated, so that a `maxRounds` of NaN allows no round.
  if (inputRequired.requests.size > 0 && !(counts.questions <= maxRounds)) {
    const reason = `the server asked for input more than ${maxRounds} times; allow more with rounds.maxRounds`
    throw new ClientError('too_many_rounds', reason, errorContext)
  }
  checkInputRequests(inputRequired, declaredCapabilities(options, call.options), errorContext)
}

/**
 * What a retry sends: the call's params, the answers to this round, and this round's state unchanged. Answers of
 * earlier rounds are omitted (basic/patterns/mrtr, client requirements).
 */
export function createRetryParams(
  params: JsonObject,
  { requestState }: InputRequired,
  responses: InputResponses | undefined,
): JsonObject {
  return {
    ...params,
    // Answers are JSON, but TypeScript does not accept an interface as a `JsonObject`.
    ...(responses && { inputResponses: responses as unknown as JsonObject }),
    ...(requestState !== undefined && { requestState }),
  }
}

/** True if a retry failed because the server no longer accepts its own `requestState`. */
export function isRequestStateRejected(error: unknown, params: JsonObject): boolean {
  if (params.requestState === undefined || !isClientError(error) || error.rpc === undefined) return false
  const { code, message, data } = error.rpc
  if (code !== errorCodes.invalidParams) return false
  return (isJsonObject(data) && data.reason === 'requestState') || /\brequestState\b/.test(message)
}
