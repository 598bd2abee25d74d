import { type JournalStore, unavailableError } from '@x/exchange'
import { errorCodes, type InputResponse, isJsonObject, type JsonValue, McpError, findMethodRow } from '@x/schema'
import { invalidStateError, principalIdentityOf, quotaError } from '@x/exchange/internal'
import { isStateError, type TokenTimes } from '@x/state-codec'
import { type ServedRequest, sessionIdOf } from './served-request.ts'
import { HandlerError, stateDisabledMessage, toInternalError, unavailableErrorOf } from './handler-error.ts'
import { journalMemberNames, parseJournal } from './journal-format.ts'
import type { Run } from './run.ts'
import { formatExplicitKey } from './journal.ts'
import { RunJournal } from './run-journal.ts'

/** A value that was sealed for another purpose cannot be opened as `requestState`. */
export const statePurpose = 'requestState'

/**
 * Opens a retry's `requestState`, and checks that it belongs to this request and caller: the client could have altered
 * it, or taken it from another request or user (basic/patterns/mrtr, server requirements). Every invalid state gets the
 * same error; only the log has the reason.
 */
export async function openState(run: Run): Promise<RunJournal> {
  const { request } = run
  const { stateCodec, loadMonitor, noteStateStore } = request.settings
  const { requestState, inputResponses } = request.params
  if (stateCodec === undefined || typeof requestState !== 'string') throw invalidStateError()
  let value: JsonValue
  let since: number | undefined
  try {
    const claims = {
      purpose: statePurpose,
      memberNames: journalMemberNames,
      binding: stateBindingOf(request),
      owner: request.callerKey,
      onOpen: (times: TokenTimes) => {
        since = times.since
      },
    }
    value = await stateCodec.open(requestState, claims)
    noteStateStore()
  } catch (error) {
    run.report(error)
    emitStateRejected(run, isStateError(error) ? error.code : 'unavailable')
    throw toOpenStateError(error)
  }
  const journal = parseJournal(value, since)
  if (journal === undefined) {
    run.report(new Error(since === undefined ? onOpenMessage : unknownFormatMessage))
    emitStateRejected(run, 'journal')
    throw invalidStateError()
  }
  loadMonitor.recordReceivedHandOff(journal.handOffReport, `${journal.callId}/${journal.shedCount}`)
  const runJournal = new RunJournal(request, journal)
  runJournal.receiveAnswers(isJsonObject(inputResponses) ? inputResponses : undefined, (key) => key)
  return runJournal
}

function emitStateRejected({ request, name }: Run, code: string): void {
  const { settings, call } = request
  settings.events.emit?.({ type: 'state_rejected', call, name, code })
}

const unknownFormatMessage = 'requestState holds a journal of a format that this version does not know'
const onOpenMessage = 'The codec given as `state` must call `onOpen` in `open`, or pass its options on'

/**
 * Opens the journal of a call that runs as a task. Throws if it has a later format, because this version cannot read
 * its records.
 */
export function openStoredJournal({ journal: storedJournal, responses }: JournalStore, run: Run): RunJournal {
  const { request } = run
  const journal = parseJournal(storedJournal)
  if (journal === undefined) {
    const error = new Error('The journal that was kept is of a format that this version does not know')
    throw toInternalError(error, run)
  }
  // Answers in the request that created the task are used only until the first question is asked.
  if (journal.round === 0 && journal.explicitRound === undefined)
    return new RunJournal(request, journal, firstResponsesOf(request))
  const runJournal = new RunJournal(request, journal)
  runJournal.receiveAnswers(responses, (key) => formatExplicitKey(key, journal.round))
  return runJournal
}

// limit: unasked answers | count | answers in a request without `requestState` | `-32602`
const maxUnaskedAnswers = 100

// limit: size of unasked answers | characters | answers in a request without `requestState` | `-32602`
const maxUnaskedAnswerCharacters = 1_048_576

/**
 * For a first request that has answers. A handler can read them only in `ctx.responses`. Throws
 * `McpError(invalidParams)` if there are too many answers or characters.
 */
export function openFirstJournal(request: ServedRequest): RunJournal {
  return new RunJournal(request, undefined, firstResponsesOf(request))
}

/**
 * Reads the answers of a request without `requestState`, which a client sends after a handler returned `inputRequired`
 * without a state (basic/patterns/mrtr). The server cannot check that it asked for them, but the params check has
 * ensured that they are valid answers. Throws `McpError(invalidParams)` if there are too many answers or characters.
 */
function firstResponsesOf({ params }: ServedRequest): ReadonlyMap<string, InputResponse> {
  const { inputResponses } = params
  const responses = isJsonObject(inputResponses) ? Object.entries(inputResponses) : []
  if (responses.length > maxUnaskedAnswers) throw tooManyAnswersError(`${maxUnaskedAnswers} answers`)
  if (countCharacters(inputResponses, maxUnaskedAnswerCharacters) > maxUnaskedAnswerCharacters)
    throw tooManyAnswersError(`${maxUnaskedAnswerCharacters} characters`)
  // The cast is safe: the params check has accepted the answers.
  return new Map(responses) as ReadonlyMap<string, unknown> as ReadonlyMap<string, InputResponse>
}

function tooManyAnswersError(limitText: string): McpError {
  const message = `inputResponses without requestState may have at most ${limitText}`
  return new McpError(errorCodes.invalidParams, message)
}

function countCharacters(value: JsonValue | undefined, maxCharacters: number): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 1
  let characterCount = 1
  for (const [key, member] of Object.entries(value)) {
    characterCount += key.length + countCharacters(member, maxCharacters - characterCount)
    if (characterCount > maxCharacters) break
  }
  return characterCount
}

/**
 * Seals a journal, so that the client can send it back as `requestState`. Every failure is logged. Clients get a
 * specific error if the call is too old, a store unavailable, a quota exceeded, or a value of theirs unsealable, and an
 * internal error otherwise.
 */
export async function sealState(journal: RunJournal, run: Run): Promise<string> {
  const { request } = run
  const { stateCodec, noteStateStore } = request.settings
  if (stateCodec === undefined) throw new HandlerError('state', stateDisabledMessage)
  journal.recordParts()
  try {
    const token = await stateCodec.seal(journal.serialize(), {
      purpose: statePurpose,
      memberNames: journalMemberNames,
      binding: stateBindingOf(request),
      owner: request.callerKey,
      since: journal.recorded.startedAt,
    })
    noteStateStore()
    return token
  } catch (error) {
    run.report(error)
    if (isStateError(error) && error.code === 'too_old') throw invalidStateError()
    const storeError = unavailableErrorOf(error, { begun: true }) ?? storeQuotaErrorOf(error)
    throw (
      storeError ?? unsealableValueError(error, journal, request) ?? new McpError(errorCodes.internal, 'Internal error')
    )
  }
}

/**
 * Milliseconds after which the client should retry a state that, by this instance's clock, was sealed in the future.
 * The other instance's clock may be right.
 */
const clockRetryAfterMs = 100

/**
 * If the store is unreachable, a quota is exceeded or clocks differ, the state may be valid and the client may send it
 * again, because no handler has run.
 */
function toOpenStateError(error: unknown): McpError {
  if (isStateError(error) && error.code === 'not_yet')
    return unavailableError({ begun: false, retryAfterMs: clockRetryAfterMs, cause: error })
  return unavailableErrorOf(error, { begun: false }) ?? storeQuotaErrorOf(error) ?? invalidStateError()
}

function storeQuotaErrorOf(error: unknown): McpError | undefined {
  if (!isStateError(error) || error.quota === undefined) return undefined
  return quotaError({ ...error.quota, retryAfterMs: error.retryAfterMs })
}

/**
 * Binds a state to service, method, target, arguments, principal and session: it opens only for a request with the same
 * values. Params without a meaning for the method are not bound, because a client may leave them out of a retry.
 */
function stateBindingOf(request: ServedRequest): JsonValue {
  const { method, params, call, settings } = request
  const { targetParam = 'name' } = findMethodRow(method) ?? {}
  const target = params[targetParam] ?? null
  const boundParams = targetParam === 'name' ? [target, params['arguments'] ?? {}] : [target]
  return [
    settings.stateAudience,
    method,
    boundParams,
    principalIdentityOf(call.principal),
    sessionIdOf(request) ?? null,
  ]
}

/**
 * For a call whose state cannot be sealed because of what its client sent: arguments or answers without a canonical
 * form, or a journal that is too large and at least half answers. Undefined for any other reason.
 */
function unsealableValueError(error: unknown, journal: RunJournal, { params }: ServedRequest): McpError | undefined {
  if (!(error instanceof Error) || error.name !== 'StateUsageError' || !('code' in error)) return undefined
  let reason: string | undefined
  if (error.code === 'too_large') reason = findSizeProblem(journal)
  if (error.code === 'not_json') {
    reason =
      findValueProblem(params['arguments'], 'arguments', 0) ?? findValueProblem(journal.answers, 'inputResponses', 0)
  }
  return reason === undefined ? undefined : new McpError(errorCodes.invalidParams, reason)
}

function findSizeProblem(journal: RunJournal): string | undefined {
  const characterCount = JSON.stringify(journal.answers).length
  if (characterCount * 2 < JSON.stringify(journal.serialize()).length) return undefined
  return `inputResponses has answers of ${characterCount} characters in all, which is more than requestState can carry`
}

const loneSurrogatePattern = /\p{Surrogate}/u
const maxDepth = 256

/** Describes the first value that `JSON.parse` accepts but that has no canonical form (RFC 8785). */
function findValueProblem(value: JsonValue | undefined, path: string, depth: number): string | undefined {
  const problem = findScalarProblem(value) ?? (depth > maxDepth ? `is deeper than ${maxDepth} levels` : undefined)
  if (problem !== undefined) return `${path.slice(0, 200)} ${problem}`
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, member] of Object.entries(value)) {
    const memberPath = `${path}/${JSON.stringify(key).slice(1, -1)}`.slice(0, 300)
    const memberProblem =
      findValueProblem(key, memberPath, depth + 1) ?? findValueProblem(member, memberPath, depth + 1)
    if (memberProblem !== undefined) return memberProblem
  }
  return undefined
}

function findScalarProblem(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'string' && loneSurrogatePattern.test(value)) return 'has half of a surrogate pair'
  if (typeof value === 'number' && !Number.isFinite(value)) return 'is a number that is too large'
  return undefined
}
