import type { HandOffReport } from '../shedding/fleet-view.ts'
import type { JournalEntry } from '@x/exchange'
import { setOwnMember } from '@x/core'
import { isJsonObject, type JsonObject, type JsonValue } from '@x/schema'
import type { ExplicitRoundRecord, Journal, QuestionRecord } from './journal.ts'
import { expandUuid, shortenUuid } from './short-id.ts'

/**
 * A `requestState` leaves this version out. It increases only if earlier versions of this package could not read the
 * new format; members that they may ignore do not increase it.
 */
const journalVersion = 2

/**
 * Member names that a codec may omit from its tokens. Their order is part of the token format, and the list stays as it
 * is: earlier versions must be able to open the tokens of later ones.
 */
export const journalMemberNames: readonly string[] = [
  'flow',
  'round',
  'questions',
  'steps',
  'sheds',
  'stops',
  'from',
  'checkpoints',
  'uuids',
  'explicit',
  'past',
  'tries',
  'v',
  'began',
]

const knownMembers = new Set([...journalMemberNames, 'parts'])

/** Converts a journal to the JSON that a journal store has. */
export function serializeJournal(journal: Journal): JsonObject {
  return { v: journalVersion, began: journal.startedAt, ...serializeSealedJournal(journal) }
}

/**
 * Converts a journal to the JSON that is sealed. Member names are short, because the client sends them back in every
 * round. When the call began is part of every token and not repeated here.
 */
export function serializeSealedJournal(journal: Journal): JsonObject {
  const { callId, round, questions, steps, checkpoints, uuids, explicitRound, unknownMembers } = journal
  // One assignment a member, because conditional spreads cost several times as much.
  const journalJson: Record<string, JsonValue> = { flow: shortenUuid(callId), round }
  if (questions.size > 0) journalJson['questions'] = objectFromMap(questions, serializeQuestion)
  if (steps.size > 0) journalJson['steps'] = objectFromMap(steps, ({ value }) => (value === undefined ? [] : [value]))
  if (checkpoints.size > 0) journalJson['checkpoints'] = objectFromMap(checkpoints, (value) => value)
  if (uuids.size > 0) journalJson['uuids'] = objectFromMap(uuids, (value) => value)
  if (explicitRound !== undefined) journalJson['explicit'] = serializeExplicitRoundRecord(explicitRound)
  addHistory(journal, journalJson)
  return unknownMembers.size === 0
    ? journalJson
    : { ...objectFromMap(unknownMembers, (value) => value), ...journalJson }
}

function addHistory(
  { startedAt, shedCount, stopCount, handOffReport, pastEffectsId, tryIds, parts }: Journal,
  journalJson: Record<string, JsonValue>,
): void {
  if (shedCount > 0) journalJson['sheds'] = shedCount
  if (stopCount > 0) journalJson['stops'] = stopCount
  if (handOffReport !== undefined) journalJson['from'] = serializeHandOff(handOffReport, startedAt)
  if (pastEffectsId !== undefined) journalJson['past'] = pastEffectsId
  if (Object.keys(parts).length > 0) journalJson['parts'] = parts
  if (tryIds.size > 0) journalJson['tries'] = objectFromMap(tryIds, (id) => id)
}

/**
 * Reads what {@link serializeJournal} or {@link serializeSealedJournal} wrote. Undefined for any other value, such as a
 * journal in a later format.
 *
 * @param since When the call of a sealed journal began.
 */
export function parseJournal(value: JsonValue, since?: number): Journal | undefined {
  if (!isJsonObject(value)) return undefined
  const { v: version = journalVersion, flow: callId, began: startedAt = since, round } = value
  if (version !== journalVersion) return undefined
  if (typeof callId !== 'string' || typeof startedAt !== 'number' || typeof round !== 'number') return undefined
  const { explicit, past } = value
  return {
    callId: expandUuid(callId),
    startedAt,
    round,
    shedCount: parseCount(value['sheds']),
    stopCount: parseCount(value['stops']),
    handOffReport: parseHandOff(value['from'], startedAt),
    questions: parseMap(value['questions'], parseQuestionRecord),
    steps: parseMap(value['steps'], (step) => (Array.isArray(step) ? { value: step[0] } : undefined)),
    checkpoints: parseMap(value['checkpoints'], (checkpointValue) => checkpointValue),
    uuids: parseMap(value['uuids'], (uuid) => (typeof uuid === 'string' ? uuid : undefined)),
    explicitRound: isJsonObject(explicit) ? parseExplicitRoundRecord(explicit) : undefined,
    tryIds: parseMap(value['tries'], (id) => (typeof id === 'string' ? id : undefined)),
    pastEffectsId: typeof past === 'string' ? past : undefined,
    parts: parseParts(value['parts']),
    unknownMembers: unknownMembersOf(value),
  }
}

function parseCount(value: JsonValue | undefined): number {
  return typeof value === 'number' ? value : 0
}

function parseParts(value: JsonValue | undefined): Journal['parts'] {
  if (value === undefined) return {}
  return Object.fromEntries(parseMap(value, (part) => (isJsonObject(part) ? part : undefined)))
}

function unknownMembersOf(journal: JsonObject): ReadonlyMap<string, JsonValue> {
  // Bounded by the journal of one call, whose token has a bound of bytes.
  const unknownMembers = new Map<string, JsonValue>()
  for (const name of Object.keys(journal)) {
    const memberValue = journal[name]
    if (!knownMembers.has(name) && memberValue !== undefined) unknownMembers.set(name, memberValue)
  }
  return unknownMembers
}

/** The JSON name of a journal member that can change while a handler runs. */
export type JournalPart =
  | 'round'
  | 'questions'
  | 'steps'
  | 'checkpoints'
  | 'uuids'
  | 'explicit'
  | 'past'
  | 'tries'
  | 'parts'

/**
 * One member of a journal, in the JSON of {@link serializeJournal}. With a key, only that key's value in the member.
 */
export function createJournalEntry(journal: Journal, part: JournalPart, key?: string): JournalEntry {
  const partValue = serializeJournal({ ...journal, ...pickJournalMember(journal, part, key) })[part]
  if (key === undefined) return { member: part, value: partValue }
  return { member: part, key, value: isJsonObject(partValue) ? partValue[key] : undefined }
}

/**
 * Empties all maps of a journal but for one entry, so that serializing this entry does not cost as much as serializing
 * everything.
 */
function pickJournalMember(journal: Journal, part: JournalPart, key: string | undefined): Partial<Journal> {
  // Always empty.
  const emptyMaps = {
    tryIds: new Map(),
    questions: new Map(),
    steps: new Map(),
    checkpoints: new Map(),
    uuids: new Map(),
    unknownMembers: new Map(),
  }
  if (key === undefined || part === 'round' || part === 'explicit' || part === 'past' || part === 'parts')
    return emptyMaps
  const member = part === 'tries' ? 'tryIds' : part
  const value = journal[member].get(key)
  return { ...emptyMaps, [member]: new Map(value === undefined ? [] : [[key, value]]) }
}

/**
 * Serializes a hand-off in about 20 bytes, because the client sends it back. Load is in hundredths, at most 9999; time
 * in milliseconds since the call began.
 */
function serializeHandOff({ instanceId, relativeLoad, handedOffAt }: HandOffReport, startedAt: number): JsonValue {
  return [instanceId, Math.min(9999, Math.round(relativeLoad * 100)), Math.round(handedOffAt) - startedAt]
}

function parseHandOff(value: JsonValue | undefined, startedAt: number): HandOffReport | undefined {
  if (!Array.isArray(value)) return undefined
  const [instanceId, loadHundredths, sinceStartMs] = value
  if (typeof instanceId !== 'string' || typeof loadHundredths !== 'number' || typeof sinceStartMs !== 'number')
    return undefined
  return { instanceId, relativeLoad: loadHundredths / 100, handedOffAt: startedAt + sinceStartMs }
}

/**
 * An array of the fingerprint, the answer or null, and the counts. Trailing elements with their initial values are
 * omitted.
 */
function serializeQuestion({
  fingerprint,
  wireKeyCount,
  invalidAnswerCount,
  changeCount,
  invalidAnswer,
  response,
}: QuestionRecord): JsonValue {
  const answer = response === undefined ? null : serializeResponse(response)
  if (invalidAnswer !== undefined)
    return [fingerprint, answer, wireKeyCount, invalidAnswerCount, changeCount, invalidAnswer]
  if (wireKeyCount > 1 || invalidAnswerCount > 0 || changeCount > 0)
    return [fingerprint, answer, wireKeyCount, invalidAnswerCount, changeCount]
  return answer === null ? [fingerprint] : [fingerprint, answer]
}

function parseQuestionRecord(value: JsonValue): QuestionRecord | undefined {
  if (!Array.isArray(value)) return undefined
  const [fingerprint, answer, wireKeyCount = 1, invalidAnswerCount = 0, changeCount = 0, invalidAnswer] = value
  if (typeof fingerprint !== 'string' || typeof wireKeyCount !== 'number') return undefined
  if (typeof invalidAnswerCount !== 'number' || typeof changeCount !== 'number') return undefined
  const response = parseResponse(answer)
  const counts = { wireKeyCount, invalidAnswerCount, changeCount }
  const lastInvalidAnswer = typeof invalidAnswer === 'string' ? invalidAnswer : undefined
  return { fingerprint, ...counts, response, invalidAnswer: lastInvalidAnswer }
}

/**
 * Shortens the most common answer, an accepted form, to an array with the form's content alone. Any other answer stays
 * as it is.
 */
function serializeResponse(response: JsonObject): JsonValue {
  const { action, content } = response
  const isAcceptedForm = action === 'accept' && content !== undefined && Object.keys(response).length === 2
  return isAcceptedForm ? [content] : response
}

function parseResponse(answer: JsonValue | undefined): JsonObject | undefined {
  if (Array.isArray(answer)) return { action: 'accept', content: answer[0] }
  return isJsonObject(answer) ? answer : undefined
}

function serializeExplicitRoundRecord({ methodsByKey, state, responses }: ExplicitRoundRecord): JsonObject {
  return {
    kinds: objectFromMap(methodsByKey, (kind) => kind),
    ...(state !== undefined && { state }),
    ...(responses !== undefined && { responses: objectFromMap(responses, (response) => response) }),
  }
}

function parseExplicitRoundRecord(value: JsonObject): ExplicitRoundRecord {
  const methodsByKey = parseMap(value['kinds'], (kind) => (typeof kind === 'string' ? kind : undefined))
  const responses = parseMap(value['responses'], (response) => (isJsonObject(response) ? response : undefined))
  return { methodsByKey, state: value['state'], responses }
}

/** Makes every member an own member, so that a key such as `__proto__` does not change the prototype. */
function objectFromMap<T>(map: ReadonlyMap<string, T>, serializeValue: (value: T) => JsonValue): JsonObject {
  const object: Record<string, JsonValue> = {}
  for (const [key, value] of map) setOwnMember(object, key, serializeValue(value))
  return object
}

function parseMap<T>(value: JsonValue | undefined, parseMember: (member: JsonValue) => T | undefined): Map<string, T> {
  const map = new Map<string, T>()
  if (!isJsonObject(value)) return map
  for (const key of Object.keys(value)) {
    const member = value[key]
    const entry = member === undefined ? undefined : parseMember(member)
    if (entry !== undefined) map.set(key, entry)
  }
  return map
}
