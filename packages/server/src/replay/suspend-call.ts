import { errorCodes, type JsonObject, McpError, metaKeys, type InputRequest } from '@x/schema'
import { mapAwaitable, type Awaitable } from '../request/awaitable.ts'
import { HandlerError } from './handler-error.ts'
import { checkHandlerKey, formatExplicitKey, formatWireKey } from './run-journal.ts'
import type { InputRequiredReturn } from '../definitions/context.ts'
import { mergeResultMeta } from '../compile/catalog.ts'
import { sealState } from './seal-state.ts'
import { warnAboutRun } from './warnings.ts'
import { tryCopyJson } from '../request/json-copy.ts'
import { mergeMissingCapabilities } from './input-capabilities.ts'
import type { Run } from './run.ts'
import type { AskedQuestion } from './run-end.ts'
import { emitQuestions } from './run-events.ts'
import { fingerprintOf } from './call-identity.ts'

/** Records the questions of a run in the journal, and returns the result that asks the client. */
export function suspendCall(run: Run): Awaitable<JsonObject> {
  return mapAwaitable(recordPastEffects(run), () =>
    mapAwaitable(recordAskedQuestions(run), (requests) => {
      const questions = [...(run.askedQuestions ?? [])]
      emitQuestions(
        run,
        questions.map(([key, { request, wireKeyCount }]) => [key, request, wireKeyCount - 1]),
      )
      run.journal.endExplicitRound()
      return createInputRequiredResult(run, requests)
    }),
  )
}

/** Returns the result for a handler that returned `inputRequired`. */
export function suspendForExplicitRound(run: Run, { requests, state }: InputRequiredReturn): Awaitable<JsonObject> {
  const entries = Object.entries(requests)
  if (entries.length === 0 && state === undefined) {
    throw new HandlerError('question', 'inputRequired was given neither requests nor state: give at least one of them')
  }
  for (const [key] of entries) checkHandlerKey(key, 'inputRequired')
  const stateCopy = state === undefined ? { value: undefined } : tryCopyJson(state)
  if ('reason' in stateCopy)
    throw new HandlerError('json', `The state given to inputRequired must be JSON, but ${stateCopy.reason}`)
  requireAnswerCapabilities(run, requests)
  emitQuestions(
    run,
    entries.map(([key, request]) => [key, request, 0]),
  )
  // Without a state and a codec, no journal is sealed. The client then sends its answers without `requestState`, as in
  // a first request.
  const { journalStore, settings } = run.request
  if (state === undefined && settings.stateCodec === undefined && journalStore === undefined) {
    return mapAwaitable(withElicitationIds(entries), (asked) => formatInputRequired(run, undefined, asked))
  }
  const methodsByKey = new Map(entries.map(([key, { method }]) => [key, method]))
  return mapAwaitable(recordPastEffects(run), () => {
    run.journal.recordExplicitRound(methodsByKey, stateCopy.value)
    if (journalStore === undefined) return createInputRequiredResult(run, entries)
    const round = run.journal.round + 1
    return createInputRequiredResult(
      run,
      entries.map(([key, request]) => [formatExplicitKey(key, round), request]),
    )
  })
}

/**
 * Records an id derived from the answers to requests of `inputRequired`. The journal does not keep the answers, but the
 * later effects of the call depend on them.
 */
function recordPastEffects(run: Run): Awaitable<void> {
  const journal = run.existingJournal
  if (journal?.responses === undefined || journal.responses.size === 0) return undefined
  return mapAwaitable(journal.effectsId(), (effectsId) => journal.recordPastEffects(effectsId))
}

function requireAnswerCapabilities({ request }: Run, requests: InputRequiredReturn['requests']): void {
  const undeclaredCapabilities = mergeMissingCapabilities(
    Object.values(requests),
    request.meta[metaKeys.clientCapabilities],
  )
  if (undeclaredCapabilities === undefined) return
  const message = `The client must declare these capabilities for this request: ${Object.keys(undeclaredCapabilities).join(', ')}`
  throw new McpError(errorCodes.missingRequiredClientCapability, message, {
    data: { requiredCapabilities: undeclaredCapabilities },
  })
}

/**
 * Records the questions of a run as unanswered. Returns the requests for the client, with their keys in
 * `inputRequests`.
 */
function recordAskedQuestions(run: Run): Awaitable<readonly RequestEntry[]> {
  let requestEntries: Awaitable<readonly RequestEntry[]> = []
  for (const [key, askedQuestion] of run.askedQuestions ?? []) {
    requestEntries = mapAwaitable(requestEntries, (previousEntries) =>
      mapAwaitable(recordAskedQuestion(run, key, askedQuestion), (entry) => [...previousEntries, entry]),
    )
  }
  return requestEntries
}

type RequestEntry = [string, InputRequest]

function recordAskedQuestion(run: Run, key: string, askedQuestion: AskedQuestion): Awaitable<RequestEntry> {
  return mapAwaitable(fingerprintOf(askedQuestion.text), (fingerprint): RequestEntry => {
    const previousRecord = run.journal.findQuestion(key)
    // An unanswered question whose text has changed is a new question. It gets a new key, so that no answer to the old
    // text is used.
    const isChanged =
      previousRecord !== undefined &&
      previousRecord.response === undefined &&
      previousRecord.fingerprint !== fingerprint
    const wireKeyCount = isChanged ? askedQuestion.wireKeyCount + 1 : askedQuestion.wireKeyCount
    const changeCount = isChanged ? askedQuestion.changeCount + 1 : askedQuestion.changeCount
    const { invalidAnswerCount, invalidAnswer } = askedQuestion
    run.journal.recordQuestion(key, { fingerprint, wireKeyCount, invalidAnswerCount, changeCount, invalidAnswer })
    return [formatWireKey(key, wireKeyCount), askedQuestion.request]
  })
}

/** The number of rounds at which the author is warned. Most clients give up after ten rounds. */
const roundCountWarningThreshold = 8

/**
 * Counts a round, and returns the result that asks the client. The result contains the sealed journal, unless a journal
 * store contains the journal.
 */
function createInputRequiredResult(
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
function withElicitationIds(
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
