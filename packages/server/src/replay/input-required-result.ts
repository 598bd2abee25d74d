import type { InputRequest, JsonObject } from '@x/schema'
import { mergeResultMeta } from '../compile/catalog.ts'
import { mapAwaitable, type Awaitable } from '../request/awaitable.ts'
import { recordJournalEntry } from './boundary.ts'
import { sealState } from './seal-state.ts'
import { journalOf, type Run } from './run.ts'
import { warnAboutRun } from './warnings.ts'

/** The number of rounds at which the author is warned. Most clients give up after ten rounds. */
const roundCountWarningThreshold = 8

/**
 * Counts a round, and returns the result that asks the client. The result contains the sealed journal, unless a journal
 * store contains the journal.
 */
export function createInputRequiredResult(
  run: Run,
  requests: readonly [string, InputRequest][],
): Awaitable<JsonObject> {
  const journal = journalOf(run)
  journal.round++
  // Users take their time, so the load report would be outdated when the answer arrives.
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

/** Returns a result after which the client sends the call again. Without requests, the client sends it at once. */
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
