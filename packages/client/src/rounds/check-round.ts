import type { InputRequired, AskingMethod } from '../request/input-required.ts'
import { ClientError } from '../request/client-error.ts'
import { declaredCapabilities } from '../request/input-handlers.ts'
import { checkRequests } from './input-kinds.ts'
import type { RoundsContext, AskingCall } from './asking-call.ts'

/** The number of `input_required` results of one call, and the last of them. */
export interface RoundCount {
  readonly asked: InputRequired
  readonly times: number
}

/**
 * Rejects a round beyond the limit, and one with requests that this client must not answer, before any handler runs.
 */
export function checkRound<M extends AskingMethod>(
  call: Pick<AskingCall<M>, 'method' | 'params' | 'options'>,
  { asked, times }: RoundCount,
  { options, errorContextOf }: RoundsContext,
): void {
  const limit = call.options.rounds?.limit ?? options.rounds?.limit ?? 10
  const errorContext = errorContextOf(call)
  // Not `times > limit`, which is never true for a limit that is not a number.
  if (!(times <= limit)) {
    const why = `the server asked for input more than ${limit} times; allow more with rounds.limit`
    throw new ClientError('too_many_rounds', why, errorContext)
  }
  checkRequests(asked, declaredCapabilities(options, call.options), errorContext)
}
