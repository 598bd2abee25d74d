import { isJsonObject, type JournalEntry, type JsonObject, type JsonValue } from '@x/schema'

/**
 * What a call has been answered and has recorded so far. It is all that is kept of a call between two requests, and
 * travels with the client, sealed. Maps, because keys come from authors, and answers from clients.
 */
export interface Journal {
  /** Names the whole call, over all its rounds. */
  readonly flow: string
  /** When the call began; milliseconds since 1970. */
  readonly began: number
  /** How many times the client has been asked. */
  round: number
  /** How many times the call has moved on to another instance without asking anything. */
  sheds: number
  /** Questions by key, answered or not; those that this version of the handler does not ask are kept for another one. */
  readonly questions: Map<string, QuestionRecord>
  /** Results of steps by key. */
  readonly steps: Map<string, StepRecord>
  readonly checkpoints: Map<string, JsonValue>
  /** What `ctx.uuid` gave, by key. */
  readonly uuids: Map<string, string>
  /** What `inputRequired` asked and kept, when the last round ended with it. */
  explicit: ExplicitRecord | undefined
  /** What a later version of this package wrote besides, for it to find again. */
  readonly others: ReadonlyMap<string, JsonValue>
}

/** A question that was asked, and its answer once it has come. */
export interface QuestionRecord {
  /** A digest of what was asked. */
  readonly fingerprint: string
  /** How often it was asked under a new wire key; 1 at first. */
  readonly times: number
  /** How many answers did not fit. */
  readonly misfits: number
  /** How often the question itself had changed. */
  readonly changes: number
  /** What the client sent; checked by the question itself, in every run. */
  readonly response?: JsonObject | undefined
}

/** The result of a step; one without a value returned none. */
export interface StepRecord {
  readonly value?: JsonValue | undefined
}

/** What an explicit round asked, by kind, and the author's own state. */
export interface ExplicitRecord {
  readonly kinds: ReadonlyMap<string, string>
  readonly state: JsonValue | undefined
  /** What came for it, when the call has moved on to another instance since. */
  readonly responses?: ReadonlyMap<string, JsonObject> | undefined
}

/** Goes up when an earlier version could not go on with a journal; a member that it may leave alone does not count. */
const version = 1

const known = new Set([
  'v',
  'flow',
  'began',
  'round',
  'sheds',
  'questions',
  'steps',
  'checkpoints',
  'uuids',
  'explicit',
])

/** A journal in which nothing stands yet. */
export function emptyJournal(flow: string, began: number): Journal {
  return {
    flow,
    began,
    round: 0,
    sheds: 0,
    questions: new Map(),
    steps: new Map(),
    checkpoints: new Map(),
    uuids: new Map(),
    explicit: undefined,
    others: new Map(),
  }
}

/** A journal as JSON; short names, because it travels with every round. */
export function writeJournal(journal: Journal): JsonObject {
  const { flow, began, round, sheds, questions, steps, checkpoints, uuids, explicit, others } = journal
  // Member by member: spreads of what is there or not would cost several times as much.
  const written: Record<string, JsonValue> = { v: version, flow, began, round }
  if (sheds > 0) written['sheds'] = sheds
  if (questions.size > 0) written['questions'] = objectOf(questions, writeQuestion)
  if (steps.size > 0) written['steps'] = objectOf(steps, ({ value }) => (value === undefined ? [] : [value]))
  if (checkpoints.size > 0) written['checkpoints'] = objectOf(checkpoints, (value) => value)
  if (uuids.size > 0) written['uuids'] = objectOf(uuids, (value) => value)
  if (explicit !== undefined) written['explicit'] = writeExplicit(explicit)
  return others.size === 0 ? written : { ...objectOf(others, (value) => value), ...written }
}

/** A journal from the JSON that {@link writeJournal} made; undefined for anything else, such as that of a later format. */
export function readJournal(value: JsonValue): Journal | undefined {
  if (!isJsonObject(value) || value['v'] !== version) return undefined
  const { flow, began, round } = value
  if (typeof flow !== 'string' || typeof began !== 'number' || typeof round !== 'number') return undefined
  const { explicit, sheds } = value
  return {
    flow,
    began,
    round,
    sheds: typeof sheds === 'number' ? sheds : 0,
    questions: mapOf(value['questions'], readQuestion),
    steps: mapOf(value['steps'], (step) => (Array.isArray(step) ? { value: step[0] } : undefined)),
    checkpoints: mapOf(value['checkpoints'], (saved) => saved),
    uuids: mapOf(value['uuids'], (uuid) => (typeof uuid === 'string' ? uuid : undefined)),
    explicit: isJsonObject(explicit) ? readExplicit(explicit) : undefined,
    others: othersIn(value),
  }
}

/** What a later version wrote besides what this one knows. */
function othersIn(journal: JsonObject): ReadonlyMap<string, JsonValue> {
  const others = new Map<string, JsonValue>()
  for (const name of Object.keys(journal)) {
    const other = journal[name]
    if (!known.has(name) && other !== undefined) others.set(name, other)
  }
  return others
}

/** A member of a journal that changes while a handler runs. */
export type JournalPart = 'round' | 'questions' | 'steps' | 'checkpoints' | 'uuids' | 'explicit'

/** One member of a journal as it stands now, in the JSON that {@link writeJournal} makes; with a key, a member of that. */
export function entryOf(journal: Journal, part: JournalPart, key?: string): JournalEntry {
  const whole = writeJournal({ ...journal, ...onlyKey(journal, part, key) })[part]
  if (key === undefined) return { part, value: whole }
  return { part, key, value: isJsonObject(whole) ? whole[key] : undefined }
}

/** Writing one member must not cost what writing all of them would. */
function onlyKey(journal: Journal, part: JournalPart, key: string | undefined): Partial<Journal> {
  const none = { questions: new Map(), steps: new Map(), checkpoints: new Map(), uuids: new Map(), others: new Map() }
  if (key === undefined || part === 'round' || part === 'explicit') return none
  const value = journal[part].get(key)
  return { ...none, [part]: new Map(value === undefined ? [] : [[key, value]]) }
}

/** A copy that shares nothing with the original. */
export function copyJournal(journal: Journal): Journal {
  return structuredClone(journal)
}

function writeQuestion({ fingerprint, times, misfits, changes, response }: QuestionRecord): JsonValue {
  const counts = [fingerprint, times, misfits, changes]
  return response === undefined ? counts : [...counts, response]
}

function readQuestion(value: JsonValue): QuestionRecord | undefined {
  if (!Array.isArray(value)) return undefined
  const [fingerprint, times, misfits, changes, response] = value
  if (typeof fingerprint !== 'string' || typeof times !== 'number') return undefined
  if (typeof misfits !== 'number' || typeof changes !== 'number') return undefined
  return { fingerprint, times, misfits, changes, response: isJsonObject(response) ? response : undefined }
}

function writeExplicit({ kinds, state, responses }: ExplicitRecord): JsonObject {
  return {
    kinds: objectOf(kinds, (kind) => kind),
    ...(state !== undefined && { state }),
    ...(responses !== undefined && { responses: objectOf(responses, (response) => response) }),
  }
}

function readExplicit(value: JsonObject): ExplicitRecord {
  const kinds = mapOf(value['kinds'], (kind) => (typeof kind === 'string' ? kind : undefined))
  const responses = mapOf(value['responses'], (response) => (isJsonObject(response) ? response : undefined))
  return { kinds, state: value['state'], responses }
}

/** Own members, so that a key such as `__proto__` stays a key. */
function objectOf<T>(map: ReadonlyMap<string, T>, write: (value: T) => JsonValue): JsonObject {
  return Object.fromEntries(Array.from(map, ([key, value]) => [key, write(value)]))
}

function mapOf<T>(value: JsonValue | undefined, read: (member: JsonValue) => T | undefined): Map<string, T> {
  const map = new Map<string, T>()
  if (!isJsonObject(value)) return map
  for (const [key, member] of Object.entries(value)) {
    const entry = member === undefined ? undefined : read(member)
    if (entry !== undefined) map.set(key, entry)
  }
  return map
}
