import type { InputRequest, JsonObject } from '@x/schema'
import { mergeResultMeta } from '../compile/catalog.ts'
import { mapAwaitable, type Awaitable } from '../request/awaitable.ts'
import { fingerprintOf } from './call-identity.ts'
import { sealState } from './seal-state.ts'
import type { Run } from './run.ts'
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
  const { request, name, journal } = run
  const round = journal.recordRound()
  if (round === roundCountWarningThreshold)
    warnAboutRun(
      run,
      'rounds',
      `has asked ${round} times in one call, and most clients stop at ten: ask several things at once`,
    )
  const pendingRequestState = request.journalStore === undefined ? sealState(journal, request, name) : undefined
  return mapAwaitable(pendingRequestState, (requestState) =>
    mapAwaitable(withElicitationIds(requests), (entries) => formatInputRequired(run, requestState, entries)),
  )
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

/**
 * Adds the `elicitationId` of 2025-11-25 to questions with a page. 2026-07-28 has removed it, but hosts refuse a page
 * without one. A page keeps its id when it is asked for again, and nothing reads the id back
 * (docs/decisions/0043-elicitation-id).
 */
export function withElicitationIds(
  requests: readonly [string, InputRequest][],
): Awaitable<readonly [string, InputRequest][]> {
  let entries: Awaitable<readonly [string, InputRequest][]> = []
  for (const [key, request] of requests) {
    entries = mapAwaitable(entries, (previousEntries) =>
      mapAwaitable(withElicitationId(request), (entry) => [...previousEntries, [key, entry]]),
    )
  }
  return entries
}

function withElicitationId(request: InputRequest): Awaitable<InputRequest> {
  if (request.method !== 'elicitation/create' || request.params.mode !== 'url') return request
  const { params } = request
  return mapAwaitable(fingerprintOf(params.url), (elicitationId) => {
    const paramsWithId = { elicitationId, ...params }
    return { ...request, params: paramsWithId }
  })
}
