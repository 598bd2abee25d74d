import type { InputRequest, JsonObject } from '@x/schema'
import { resultMeta } from '../compile/catalog.ts'
import { after, type Awaitable } from '../request/awaitable.ts'
import { noteEntry } from './boundary.ts'
import { sealState } from './request-state.ts'
import { journalOf, type Run } from './run.ts'
import { warn } from './warnings.ts'

/** Most clients give up after ten rounds. */
const manyRounds = 8

/** The result of a round that has asked, with the journal as it stands: sealed, unless it is kept for the call. */
export function inputRequiredResult(run: Run, requests: readonly [string, InputRequest][]): Awaitable<JsonObject> {
  const journal = journalOf(run)
  journal.round++
  // People take their time: what it tells of a load would be old.
  journal.handOff = undefined
  if (journal.round === manyRounds) {
    const advice = 'most clients stop at ten: ask several things at once'
    warn(run, { code: 'rounds', problem: `has asked ${manyRounds} times in one call, and ${advice}` })
  }
  noteEntry(run, 'round')
  const isStored = run.request.journal !== undefined
  const state = isStored ? undefined : sealState(journal, run.request, run.name)
  return after(state, (requestState) => asksFor(run, requestState, requests))
}

/** A result with which the client comes back; at once, when nothing is asked of it. */
export function asksFor(
  { request }: Run,
  requestState: string | undefined,
  requests: readonly [string, InputRequest][] = [],
): JsonObject {
  const meta = resultMeta(undefined, request.catalog)
  const inputRequests = Object.fromEntries(requests)
  return {
    resultType: 'input_required',
    ...(requests.length > 0 && { inputRequests }),
    ...(requestState !== undefined && { requestState }),
    ...(meta && { _meta: meta }),
  }
}
