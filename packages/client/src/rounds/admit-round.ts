import type { Asked, AskingMethod } from './asked.ts'
import { ClientError } from '../client-error.ts'
import { declaredBy } from './input-handlers.ts'
import { admitRequests } from './input-kinds.ts'
import type { RoundsContext, RoundTrip } from './round-trip.ts'

/** How often one call was answered with `input_required`, and the last of these answers. */
export interface AskedTimes {
  readonly asked: Asked
  readonly times: number
}

/** Refuses a round too many, and one with requests that this client must not answer, before anybody is asked anything. */
export function admitRound<M extends AskingMethod>(
  trip: Pick<RoundTrip<M>, 'method' | 'params' | 'how'>,
  { asked, times }: AskedTimes,
  { options, placeOf }: RoundsContext,
): void {
  const limit = trip.how.rounds?.limit ?? options.rounds?.limit ?? 10
  const place = placeOf(trip)
  // Not `times > limit`, which a limit that is no number would never meet.
  if (!(times <= limit)) {
    const why = `the server asked for input more than ${limit} times; allow more with rounds.limit`
    throw new ClientError('too_many_rounds', why, place)
  }
  admitRequests(asked, declaredBy(options, trip.how), place)
}
