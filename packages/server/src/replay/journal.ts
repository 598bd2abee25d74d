import type { HandOffReport } from '../shedding/fleet-view.ts'
import { isJsonObject, type JournalEntry, type JsonObject, type JsonValue } from '@x/schema'
import { expandDigest, expandUuid, shortenDigest, shortenUuid } from './short-id.ts'

/**
 * The answers and records of a call so far. It is all that remains of a call between two requests, and travels with the
 * client, sealed. Maps, because keys come from authors, and answers from clients.
 */
export interface Journal {
  /** Names the whole call, over all its rounds. */
  readonly callId: string
  /** When the call began. Milliseconds since 1970. */
  readonly startedAt: number
  /** Rounds in which the client was asked. */
  round: number
  /** Hand-offs for load, or by a policy. */
  shedCount: number
  /** Hand-offs because an instance was stopping. */
  stopCount: number
  /** The load of the instance that handed it off last, since the client was last asked. */
  handOff: HandOffReport | undefined
  /**
   * Questions by key, answered or not. Those that this version of the handler does not ask are kept for another one.
   */
  readonly questions: Map<string, QuestionRecord>
  /** Results of steps by key. */
  readonly steps: Map<string, StepRecord>
  /**
   * The id of the first attempt of each step that has failed. Such a step has no result, but may have had an effect.
   */
  readonly tryIds: Map<string, string>
  readonly checkpoints: Map<string, JsonValue>
  /** The values of `ctx.uuid`, by key. */
  readonly uuids: Map<string, string>
  /** The requests and the state of `inputRequired`, when the last round ended with it. */
  explicitRound: ExplicitRoundRecord | undefined
  /** Names the answers to explicit rounds before the last, which the journal does not keep. */
  pastEffectsId: string | undefined
  /** Members that a later version of this package wrote, kept for it. */
  readonly unknownMembers: ReadonlyMap<string, JsonValue>
}

/** A question that was asked, and its answer once it has come. */
export interface QuestionRecord {
  /** A digest of what was asked. */
  readonly fingerprint: string
  /** The number of wire keys of the question. 1 at first. */
  readonly wireKeyCount: number
  /** Invalid answers so far. */
  readonly invalidAnswerCount: number
  /** Changes of the question itself so far. */
  readonly changeCount: number
  /** The client's answer. The question itself checks it in every run. */
  readonly response?: JsonObject | undefined
}

/** The result of a step. One without a value returned none. */
export interface StepRecord {
  readonly value?: JsonValue | undefined
}

/** The requests of an explicit round, by kind, and the author's own state. */
export interface ExplicitRoundRecord {
  readonly methodsByKey: ReadonlyMap<string, string>
  readonly state: JsonValue | undefined
  /** The answers to it, when the call has been handed off since. */
  readonly responses?: ReadonlyMap<string, JsonObject> | undefined
}

/** Increases when an earlier version could not continue with a journal. A member that it may ignore does not count. */
const journalVersion = 2

/**
 * The members of a journal, which a codec may leave out of its tokens: the order is a part of the format. A later
 * member is not added, so that this version still opens the tokens of a later one.
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

const knownMembers = new Set(journalMemberNames)

/** Returns a journal without entries. */
export function createEmptyJournal(callId: string, startedAt: number): Journal {
  return {
    callId,
    startedAt,
    round: 0,
    shedCount: 0,
    stopCount: 0,
    handOff: undefined,
    questions: new Map(),
    steps: new Map(),
    tryIds: new Map(),
    checkpoints: new Map(),
    uuids: new Map(),
    explicitRound: undefined,
    pastEffectsId: undefined,
    unknownMembers: new Map(),
  }
}

/** A journal as JSON. Short names, because it travels with every round. */
export function serializeJournal(journal: Journal): JsonObject {
  const { callId, startedAt, round, questions, steps, checkpoints, uuids, explicitRound, unknownMembers } = journal
  // Member by member: spreads of what is there or not would cost several times as much.
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

/** Hand-offs, and what names effects: most journals have none of it. */
function addHistory(
  { startedAt, shedCount, stopCount, handOff, pastEffectsId, tryIds }: Journal,
  journalJson: Record<string, JsonValue>,
): void {
  if (shedCount > 0) journalJson['sheds'] = shedCount
  if (stopCount > 0) journalJson['stops'] = stopCount
  if (handOff !== undefined) journalJson['from'] = serializeHandOff(handOff, startedAt)
  if (pastEffectsId !== undefined) journalJson['past'] = pastEffectsId
  if (tryIds.size > 0) journalJson['tries'] = objectFromMap(tryIds, (id) => id)
}

/**
 * A journal from the JSON that {@link serializeJournal} made, undefined for anything else, such as that of a later
 * format.
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
    handOff: parseHandOff(value['from'], startedAt),
    questions: parseMap(value['questions'], parseQuestionRecord),
    steps: parseMap(value['steps'], (step) => (Array.isArray(step) ? { value: step[0] } : undefined)),
    checkpoints: parseMap(value['checkpoints'], (checkpointValue) => checkpointValue),
    uuids: parseMap(value['uuids'], (uuid) => (typeof uuid === 'string' ? uuid : undefined)),
    explicitRound: isJsonObject(explicit) ? parseExplicitRoundRecord(explicit) : undefined,
    tryIds: parseMap(value['tries'], (id) => (typeof id === 'string' ? id : undefined)),
    pastEffectsId: typeof past === 'string' ? past : undefined,
    unknownMembers: unknownMembersOf(value),
  }
}

/** Members that a later version wrote and this one does not know. */
function unknownMembersOf(journal: JsonObject): ReadonlyMap<string, JsonValue> {
  const unknownMembers = new Map<string, JsonValue>()
  for (const name of Object.keys(journal)) {
    const memberValue = journal[name]
    if (!knownMembers.has(name) && memberValue !== undefined) unknownMembers.set(name, memberValue)
  }
  return unknownMembers
}

/** A member of a journal that changes while a handler runs. */
export type JournalPart = 'round' | 'questions' | 'steps' | 'checkpoints' | 'uuids' | 'explicit' | 'past' | 'tries'

/**
 * Returns one member of a journal in the JSON that {@link serializeJournal} makes, with a key, a member of that.
 */
export function createJournalEntry(journal: Journal, part: JournalPart, key?: string): JournalEntry {
  const partValue = serializeJournal({ ...journal, ...pickJournalMember(journal, part, key) })[part]
  if (key === undefined) return { member: part, value: partValue }
  return { member: part, key, value: isJsonObject(partValue) ? partValue[key] : undefined }
}

/** Writing one member must not cost what writing all of them would. */
function pickJournalMember(journal: Journal, part: JournalPart, key: string | undefined): Partial<Journal> {
  const emptyMaps = {
    tryIds: new Map(),
    questions: new Map(),
    steps: new Map(),
    checkpoints: new Map(),
    uuids: new Map(),
    unknownMembers: new Map(),
  }
  if (key === undefined || part === 'round' || part === 'explicit' || part === 'past') return emptyMaps
  const member = part === 'tries' ? 'tryIds' : part
  const value = journal[member].get(key)
  return { ...emptyMaps, [member]: new Map(value === undefined ? [] : [[key, value]]) }
}

/** A copy that shares nothing with the original. */
export function copyJournal(journal: Journal): Journal {
  return structuredClone(journal)
}

/**
 * In about 20 bytes, because it travels: the load in hundredths, no more than a hundred times the limit, and the time
 * since the call began.
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
 * Returns the client's answer for a key. Own members only, because the keys are an author's and the object a client's.
 */
export function responseFor(responses: JsonObject | undefined, key: string): JsonObject | undefined {
  if (responses === undefined || !Object.hasOwn(responses, key)) return undefined
  const response = responses[key]
  return isJsonObject(response) ? response : undefined
}

/**
 * Returns an array of the fingerprint, the answer or null, and the counts. Trailing members with their initial values
 * are omitted.
 */
function serializeQuestion({
  fingerprint,
  wireKeyCount,
  invalidAnswerCount,
  changeCount,
  response,
}: QuestionRecord): JsonValue {
  const shortFingerprint = shortenDigest(fingerprint)
  const answer = response === undefined ? null : serializeResponse(response)
  if (wireKeyCount > 1 || invalidAnswerCount > 0 || changeCount > 0)
    return [shortFingerprint, answer, wireKeyCount, invalidAnswerCount, changeCount]
  return answer === null ? [shortFingerprint] : [shortFingerprint, answer]
}

function parseQuestionRecord(value: JsonValue): QuestionRecord | undefined {
  if (!Array.isArray(value)) return undefined
  const [fingerprint, answer, wireKeyCount = 1, invalidAnswerCount = 0, changeCount = 0] = value
  if (typeof fingerprint !== 'string' || typeof wireKeyCount !== 'number') return undefined
  if (typeof invalidAnswerCount !== 'number' || typeof changeCount !== 'number') return undefined
  const response = parseResponse(answer)
  return { fingerprint: expandDigest(fingerprint), wireKeyCount, invalidAnswerCount, changeCount, response }
}

/** Most answers accept a form: such a one is an array with the content of the form alone. */
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

/** Own members, so that a key such as `__proto__` stays a key. */
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
