import type { InputRequest, JsonObject } from '@x/schema'
import { mergeResultMeta } from '../compile/catalog.ts'
import { mapAwaitable, type Awaitable } from '../request/awaitable.ts'
import { recordJournalEntry } from './boundary.ts'
import { sealState } from './seal-state.ts'
import { journalOf, type Run } from './run.ts'
import { warnAboutRun } from './warnings.ts'

/** Most clients give up after ten rounds. */
const roundCountWarningThreshold = 8

/** Returns the result of a round that has asked, with the present journal: sealed, unless a store keeps it. */
export function createInputRequiredResult(
  run: Run,
  requests: readonly [string, InputRequest][],
): Awaitable<JsonObject> {
  const journal = journalOf(run)
  journal.round++
  // People take their time: a report of the load would be old by then.
  journal.handOff = undefined
  if (journal.round === roundCountWarningThreshold) {
    const advice = 'most clients stop at ten: ask several things at once'
    warnAboutRun(run, {
      code: 'rounds',
      problem: `has asked ${roundCountWarningThreshold} times in one call, and ${advice}`,
    })
  }
  recordJournalEntry(run, 'round')
  const isJournalStored = run.request.journalStore !== undefined
  const pendingRequestState = isJournalStored ? undefined : sealState(journal, run.request, run.name)
  return mapAwaitable(pendingRequestState, (requestState) => formatInputRequired(run, requestState, requests))
}

/** Returns a result after which the client sends the call again. At once, when nothing is asked of it. */
export function formatInputRequired(
  { request }: Run,
  requestState: string | undefined,
  requests: readonly [string, InputRequest][] = [],
): JsonObject {
  const meta = mergeResultMeta(undefined, request.catalog)
  const inputRequests = Object.fromEntries(requests)
  return {
    resultType: 'input_required',
    ...(requests.length > 0 && { inputRequests }),
    ...(requestState !== undefined && { requestState }),
    ...(meta && { _meta: meta }),
  }
}
