import { errorCodes, type InputResponse, isJsonObject, type JsonObject, type JsonValue, McpError } from '@x/schema'
import { report, type Scope } from '../request/scope.ts'
import { answersKind } from './needs.ts'
import { type Journal, readJournal, writeJournal } from './journal.ts'
import { wireKey } from './keys.ts'
import { type RunStart, responseFor } from './run.ts'

/** What sealed values are for; keys of other purposes do not open these. */
const purpose = 'requestState'

/**
 * Opens what came back with a retry, before anything in it is believed: the client could have altered it, or could have it
 * from another request or another user (basic/patterns/mrtr, server requirements). Every failure has one answer, and the
 * reason goes to the author.
 */
export async function openState(token: string, scope: Scope, name: string): Promise<RunStart> {
  const value = await opened(token, scope, name)
  const journal = value === undefined ? undefined : readJournal(value)
  if (journal === undefined) {
    const data = { reason: 'requestState' }
    throw new McpError(errorCodes.invalidParams, 'Invalid or expired requestState', { data })
  }
  return { journal, responses: takeResponses(journal, scope.params) }
}

/** Seals a journal for the way through the client. */
export function sealState(journal: Journal, scope: Scope): Promise<string> {
  const { state } = scope.settings
  if (state === undefined) throw new Error('createServer was given state: false, so no call can wait for an answer')
  return state.seal(writeJournal(journal), { purpose, binding: bindingOf(scope), since: journal.began })
}

async function opened(token: string, scope: Scope, name: string): Promise<JsonValue | undefined> {
  const { state } = scope.settings
  if (state === undefined) return undefined
  try {
    return await state.open(token, { purpose, binding: bindingOf(scope) })
  } catch (error) {
    // A store that cannot be reached says nothing of the state: the client may try again.
    if (error instanceof Error && 'code' in error && error.code === 'unavailable') throw error
    report(error, { method: scope.method, name }, scope.settings)
    return undefined
  }
}

/** A state is good for one caller and one request alone: method, target and arguments. */
function bindingOf({ method, params, call }: Scope): JsonValue {
  const { _meta, inputResponses: _responses, requestState: _state, ...asked } = params
  const { issuer = null, subject = null, client = null } = call.principal ?? {}
  return [method, asked, call.principal === undefined ? null : [issuer, subject, client]]
}

/** Puts the answers beside their questions; what was not asked is ignored (basic/patterns/mrtr, error handling). */
function takeResponses(journal: Journal, { inputResponses }: JsonObject): ReadonlyMap<string, InputResponse> {
  const given = isJsonObject(inputResponses) ? inputResponses : undefined
  for (const [key, question] of journal.questions) {
    const response = question.response ?? responseFor(given, wireKey(key, question.times))
    if (response !== undefined) journal.questions.set(key, { ...question, response })
  }
  const responses = new Map<string, InputResponse>()
  for (const [key, kind] of journal.explicit?.kinds ?? []) {
    const response = responseFor(given, key)
    // The params were checked to hold answers of the three kinds, and this one is of the kind that was asked for.
    if (response !== undefined && answersKind(kind, response)) responses.set(key, response as unknown as InputResponse)
  }
  return responses
}
