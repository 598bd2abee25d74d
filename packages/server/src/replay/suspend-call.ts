import { errorCodes, type JsonObject, McpError, metaKeys, type InputRequest } from '@x/schema'
import { mapAwaitable, type Awaitable } from '../request/awaitable.ts'
import { HandlerError } from './handler-error.ts'
import { checkHandlerKey, formatExplicitKey, formatWireKey } from './run-journal.ts'
import type { InputRequiredReturn } from '../definitions/context.ts'
import { formatInputRequired, createInputRequiredResult, withElicitationIds } from './input-required-result.ts'
import { tryCopyJson } from '../request/json-copy.ts'
import { mergeMissingCapabilities } from './input-capabilities.ts'
import type { AskedQuestion, Run } from './run.ts'
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
