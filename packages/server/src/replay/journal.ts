import type { HandOffReport } from '../shedding/fleet-view.ts'
import type { JournalEntry } from '@x/exchange'
import { isJsonObject, type JsonObject, type JsonValue } from '@x/schema'

/**
 * The answers of the client and the recorded results of a call. This is the only data of a call that exists between two
 * requests. The client stores the sealed journal, except that a `JournalStore` stores the journal of a task. Entries
 * are in maps, because a key that an author chooses may be the name of an inherited object member.
 */
export interface Journal {
  /** The id of the call, which is the same in all its rounds. */
  readonly callId: string
  /** The time at which the call began, in milliseconds since 1970. */
  readonly startedAt: number
  /** The number of rounds in which the client was asked. */
  round: number
  /** The number of times that the call was handed off because of load or by the author's policy. */
  shedCount: number
  /** The number of times that the call was handed off because an instance was stopping. */
  stopCount: number
  /**
   * The load of the instance that last handed the call off. Undefined if the client was asked since then, or if that
   * instance was stopping.
   */
  handOffReport: HandOffReport | undefined
  /**
   * The questions by key, with or without answers. Questions that this version of the handler does not ask are kept for
   * other versions of the handler.
   */
  readonly questions: Map<string, QuestionRecord>
  /** The results of steps, by key. */
  readonly steps: Map<string, StepRecord>
  /**
   * The effects id of the first attempt of each failed step, by key. Later attempts use the same id, because the first
   * attempt may have had an effect.
   */
  readonly tryIds: Map<string, string>
  readonly checkpoints: Map<string, JsonValue>
  /** The values of `ctx.uuid`, by key. */
  readonly uuids: Map<string, string>
  /** The requests and the state of `inputRequired`. Undefined unless the last round was asked with `inputRequired`. */
  explicitRound: ExplicitRoundRecord | undefined
  /**
   * An id derived from the answers to earlier rounds of `inputRequired`, because the journal does not keep those
   * answers.
   */
  pastEffectsId: string | undefined
  /** The parts that extensions recorded of the last run, by name. */
  parts: Readonly<Record<string, JsonObject>>
  /** The members that only a later version of this package knows. They are kept unchanged for that version. */
  readonly unknownMembers: ReadonlyMap<string, JsonValue>
}

/** A question that was asked, and the client's answer if it has arrived. */
export interface QuestionRecord {
  /** A digest of the question's text. */
  readonly fingerprint: string
  /**
   * The number of keys that the question has used in `inputRequests`. It is 1 at first. The question gets a new key
   * each time that it is asked again.
   */
  readonly wireKeyCount: number
  /** The number of invalid answers so far. */
  readonly invalidAnswerCount: number
  /** A digest of the last invalid answer, which is not asked for again if it comes once more. */
  readonly invalidAnswer?: string | undefined
  /** The number of times that the text of the question has changed. */
  readonly changeCount: number
  /** The client's answer as it arrived. It is checked in every run. */
  readonly response?: JsonObject | undefined
}

/** The result of a step. `value` is undefined if the step returned undefined. */
export interface StepRecord {
  readonly value?: JsonValue | undefined
}

/**
 * A round that a handler asked with `inputRequired`. It contains the method of each request, by key, and the author's
 * state.
 */
export interface ExplicitRoundRecord {
  readonly methodsByKey: ReadonlyMap<string, string>
  readonly state: JsonValue | undefined
  /** The answers to the requests. Stored only if the call was handed off after they arrived. */
  readonly responses?: ReadonlyMap<string, JsonObject> | undefined
}

/**
 * The version of the journal format. It increases only if earlier versions of this package could not read the new
 * format. New members that earlier versions may ignore do not increase it.
 */
const journalVersion = 2

/**
 * The member names of a journal, which a codec may omit from its tokens. Their order is a part of the token format. New
 * members are not added to this list, so that earlier versions can open the tokens of later versions.
 */
export const journalMemberNames: readonly string[] = [
  'v',
  'flow',
  'began',
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
]

const knownMembers = new Set([...journalMemberNames, 'parts'])

/** Returns a journal without entries. */
export function createEmptyJournal(callId: string, startedAt: number): Journal {
  return {
    callId,
    startedAt,
    round: 0,
    shedCount: 0,
    stopCount: 0,
    handOffReport: undefined,
    questions: new Map(),
    steps: new Map(),
    tryIds: new Map(),
    checkpoints: new Map(),
    uuids: new Map(),
    explicitRound: undefined,
    pastEffectsId: undefined,
    parts: {},
    unknownMembers: new Map(),
  }
}

/** Converts a journal to JSON. The member names are short, because the JSON is sent in every round. */
export function serializeJournal(journal: Journal): JsonObject {
  const { callId, startedAt, round, questions, steps, checkpoints, uuids, explicitRound, unknownMembers } = journal
  // Members are assigned one by one, because conditional spreads cost several times as much.
  const journalJson: Record<string, JsonValue> = {
    v: journalVersion,
    flow: shortenUuid(callId),
    began: startedAt,
    round,
  }
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

/** Adds the counts of hand-offs and the ids of effects. Most journals have none of these members. */
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
 * Converts JSON of {@link serializeJournal} to a journal. Returns undefined for any other value, such as a journal in a
 * later format.
 */
export function parseJournal(value: JsonValue): Journal | undefined {
  if (!isJsonObject(value) || value['v'] !== journalVersion) return undefined
  const { flow: callId, began: startedAt, round } = value
  if (typeof callId !== 'string' || typeof startedAt !== 'number' || typeof round !== 'number') return undefined
  const { explicit, sheds, stops, past } = value
  return {
    callId: expandUuid(callId),
    startedAt,
    round,
    shedCount: typeof sheds === 'number' ? sheds : 0,
    stopCount: typeof stops === 'number' ? stops : 0,
    handOffReport: parseHandOff(value['from'], startedAt),
    questions: parseMap(value['questions'], parseQuestionRecord),
    steps: parseMap(value['steps'], (step) => (Array.isArray(step) ? { value: step[0] } : undefined)),
    checkpoints: parseMap(value['checkpoints'], (checkpointValue) => checkpointValue),
    uuids: parseMap(value['uuids'], (uuid) => (typeof uuid === 'string' ? uuid : undefined)),
    explicitRound: isJsonObject(explicit) ? parseExplicitRoundRecord(explicit) : undefined,
    tryIds: parseMap(value['tries'], (id) => (typeof id === 'string' ? id : undefined)),
    pastEffectsId: typeof past === 'string' ? past : undefined,
    parts: Object.fromEntries(parseMap(value['parts'], (part) => (isJsonObject(part) ? part : undefined))),
    unknownMembers: unknownMembersOf(value),
  }
}

/** Returns the members that this version does not know, because a later version wrote them. */
function unknownMembersOf(journal: JsonObject): ReadonlyMap<string, JsonValue> {
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
 * Returns an entry with one member of a journal, in the JSON of {@link serializeJournal}. With a key, the entry
 * contains only the value of that key in the member.
 */
export function createJournalEntry(journal: Journal, part: JournalPart, key?: string): JournalEntry {
  const partValue = serializeJournal({ ...journal, ...pickJournalMember(journal, part, key) })[part]
  if (key === undefined) return { member: part, value: partValue }
  return { member: part, key, value: isJsonObject(partValue) ? partValue[key] : undefined }
}

/**
 * Returns replacements for all maps of a journal. They are empty, except for the entry with the given key. So
 * serializing one entry does not cost as much as serializing the whole journal.
 */
function pickJournalMember(journal: Journal, part: JournalPart, key: string | undefined): Partial<Journal> {
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
 * Serializes a hand-off in about 20 bytes, because the client sends it back. The load is in hundredths, at most 9999.
 * The time is in milliseconds since the call began.
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
 * Returns the client's answer for a key. Reads only own members, so that a key such as `constructor` does not find an
 * inherited member.
 */
export function responseFor(responses: JsonObject | undefined, key: string): JsonObject | undefined {
  if (responses === undefined || !Object.hasOwn(responses, key)) return undefined
  const response = responses[key]
  return isJsonObject(response) ? response : undefined
}

/**
 * Returns an array of the fingerprint, the answer or null, and the counts. Elements at the end that have their initial
 * values are omitted.
 */
function serializeQuestion({
  fingerprint,
  wireKeyCount,
  invalidAnswerCount,
  changeCount,
  invalidAnswer,
  response,
}: QuestionRecord): JsonValue {
  const shortFingerprint = shortenDigest(fingerprint)
  const answer = response === undefined ? null : serializeResponse(response)
  if (invalidAnswer !== undefined)
    return [shortFingerprint, answer, wireKeyCount, invalidAnswerCount, changeCount, shortenDigest(invalidAnswer)]
  if (wireKeyCount > 1 || invalidAnswerCount > 0 || changeCount > 0)
    return [shortFingerprint, answer, wireKeyCount, invalidAnswerCount, changeCount]
  return answer === null ? [shortFingerprint] : [shortFingerprint, answer]
}

function parseQuestionRecord(value: JsonValue): QuestionRecord | undefined {
  if (!Array.isArray(value)) return undefined
  const [fingerprint, answer, wireKeyCount = 1, invalidAnswerCount = 0, changeCount = 0, invalidAnswer] = value
  if (typeof fingerprint !== 'string' || typeof wireKeyCount !== 'number') return undefined
  if (typeof invalidAnswerCount !== 'number' || typeof changeCount !== 'number') return undefined
  const response = parseResponse(answer)
  const counts = { wireKeyCount, invalidAnswerCount, changeCount }
  const lastInvalidAnswer = typeof invalidAnswer === 'string' ? expandDigest(invalidAnswer) : undefined
  return { fingerprint: expandDigest(fingerprint), ...counts, response, invalidAnswer: lastInvalidAnswer }
}

/**
 * Serializes an accepted form, which is the most common answer, as an array that contains only the form's content.
 * Returns any other answer unchanged.
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

/**
 * Returns an object whose members are all own members, so that a key such as `__proto__` does not change its prototype.
 */
function objectFromMap<T>(map: ReadonlyMap<string, T>, serializeValue: (value: T) => JsonValue): JsonObject {
  return Object.fromEntries(Array.from(map, ([key, value]) => [key, serializeValue(value)]))
}

function parseMap<T>(value: JsonValue | undefined, parseMember: (member: JsonValue) => T | undefined): Map<string, T> {
  const map = new Map<string, T>()
  if (!isJsonObject(value)) return map
  for (const [key, member] of Object.entries(value)) {
    const entry = member === undefined ? undefined : parseMember(member)
    if (entry !== undefined) map.set(key, entry)
  }
  return map
}

/** Writes a UUID in 22 characters of Base64url instead of 36. Returns any other text unchanged. */
export function shortenUuid(text: string): string {
  return uuidPattern.test(text) ? shortenDigest(text.replaceAll('-', '')) : text
}

/** Returns the text that {@link shortenUuid} shortened. */
export function expandUuid(text: string): string {
  const digits = expandDigest(text)
  if (digits === text) return text
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20)}`
}

/** Writes 32 hexadecimal digits in 22 characters of Base64url. Returns any other text unchanged. */
export function shortenDigest(text: string): string {
  if (!digestPattern.test(text)) return text
  // Three digits have the 12 bits of two characters. A zero digit completes the last three.
  const digits = `${text}0`
  let short = ''
  for (let at = 0; at < digits.length; at += 3) {
    const bits = Number.parseInt(digits.slice(at, at + 3), 16)
    short += alphabet.charAt(bits >> 6) + alphabet.charAt(bits & 63)
  }
  return short
}

/** Returns the text that {@link shortenDigest} shortened. */
export function expandDigest(text: string): string {
  if (!shortPattern.test(text)) return text
  let digits = ''
  for (let at = 0; at < text.length; at += 2) {
    const bits = (alphabet.indexOf(text.charAt(at)) << 6) | alphabet.indexOf(text.charAt(at + 1))
    digits += bits.toString(16).padStart(3, '0')
  }
  return digits.slice(0, -1)
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

const uuidPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const digestPattern = /^[0-9a-f]{32}$/

/** 16 bytes in Base64url. The last character contains two bits of data and four zero bits. */
const shortPattern = /^[A-Za-z0-9_-]{21}[AQgw]$/
