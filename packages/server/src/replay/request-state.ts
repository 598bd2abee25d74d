import {
  errorCodes,
  type InputResponse,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  McpError,
  type JournalKeeper,
  principalIdentity,
} from '@x/schema'
import { isStateError } from '@x/state-codec'
import { report, type Scope } from '../request/scope.ts'
import { HandlerError, withoutState } from './handler-error.ts'
import { hideError } from './hide-error.ts'
import { answersKind } from './needs.ts'
import { type Journal, readJournal, writeJournal } from './journal.ts'
import { explicitKey, wireKey } from './keys.ts'
import { type RunStart, responseFor } from './run.ts'

/** What sealed values are for; keys of other purposes do not open these. */
const purpose = 'requestState'

/**
 * Opens what came back with a retry, before anything in it is believed: the client could have altered it, or could have it
 * from another request or another user (basic/patterns/mrtr, server requirements). Every failure has one answer, and the
 * reason goes to the author.
 */
export async function openState(token: string, scope: Scope, name: string): Promise<RunStart> {
  const { state } = scope.settings
  if (state === undefined) throw refusal()
  const tell = (error: unknown): void => report(error, { method: scope.method, name }, scope.settings)
  let value: JsonValue
  try {
    value = await state.open(token, { purpose, binding: bindingOf(scope) })
  } catch (error) {
    tell(error)
    // A store that cannot be reached says nothing of the state: the client may try again.
    throw isStateError(error) && error.code === 'unavailable' ? failure() : refusal()
  }
  const journal = readJournal(value)
  if (journal === undefined) {
    tell(new Error('requestState holds a journal of a format that this version does not know'))
    throw refusal()
  }
  const { inputResponses } = scope.params
  return { journal, responses: takeResponses(journal, isJsonObject(inputResponses) ? inputResponses : undefined) }
}

/**
 * What a run begins with whose journal is kept for it. Throws when the journal is of a later format: nothing may be done for a
 * call of which this version does not know what was done already.
 */
export function openKept({ journal: kept, responses }: JournalKeeper, scope: Scope, name: string): RunStart {
  const journal = readJournal(kept)
  if (journal === undefined) {
    const error = new Error('The journal that was kept is of a format that this version does not know')
    throw hideError(error, scope, name)
  }
  return { journal, responses: takeResponses(journal, responses, (key) => explicitKey(key, journal.round)) }
}

/**
 * Seals a journal for the way through the client. Why one cannot be sealed, such as that it is too large, is for the author;
 * for the client it matters only whether the call has lasted too long.
 */
export async function sealState(journal: Journal, scope: Scope, name: string): Promise<string> {
  const { state } = scope.settings
  if (state === undefined) throw new HandlerError('state', withoutState)
  try {
    return await state.seal(writeJournal(journal), { purpose, binding: bindingOf(scope), since: journal.began })
  } catch (error) {
    report(error, { method: scope.method, name }, scope.settings)
    throw isStateError(error) && error.code === 'too_old' ? refusal() : failure()
  }
}

function failure(): McpError {
  return new McpError(errorCodes.internal, 'Internal error')
}

function refusal(): McpError {
  const data = { reason: 'requestState' }
  return new McpError(errorCodes.invalidParams, 'Invalid or expired requestState', { data })
}

/** A state is good for one caller and one request alone: method, target and arguments. */
function bindingOf({ method, params, call }: Scope): JsonValue {
  const { _meta, inputResponses: _responses, requestState: _state, ...asked } = params
  return [method, asked, principalIdentity(call.principal)]
}

/** Puts the answers beside their questions; what was not asked is ignored (basic/patterns/mrtr, error handling). */
function takeResponses(
  journal: Journal,
  given: JsonObject | undefined,
  nameOf: (key: string) => string = (key) => key,
): ReadonlyMap<string, InputResponse> {
  for (const [key, question] of journal.questions) {
    const response = question.response ?? responseFor(given, wireKey(key, question.times))
    if (response !== undefined) journal.questions.set(key, { ...question, response })
  }
  return explicitResponses(journal, (key) => responseFor(given, nameOf(key)))
}

/** What came for an explicit round: with this request, or with an earlier one since which the call has moved on. */
function explicitResponses(
  { explicit }: Journal,
  given: (key: string) => JsonObject | undefined,
): ReadonlyMap<string, InputResponse> {
  const responses = new Map<string, InputResponse>()
  for (const [key, kind] of explicit?.kinds ?? []) {
    const response = explicit?.responses?.get(key) ?? given(key)
    // The params were checked to hold answers of the three kinds, and this one is of the kind that was asked for.
    if (response !== undefined && answersKind(kind, response)) responses.set(key, response as unknown as InputResponse)
  }
  return responses
}
