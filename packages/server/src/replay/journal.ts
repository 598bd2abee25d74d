import type { HandOffReport } from '../shedding/fleet-view.ts'
import { type InputRequest, isJsonObject, type JsonObject, type JsonValue } from '@x/schema'

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
  /** A digest of the question's text, in 10 characters. */
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

/** A question that a run asks the client. */
export interface AskedQuestion {
  readonly request: InputRequest
  /** The JSON of the question, without the reason that is added to its message when it is asked again. */
  readonly text: string
  readonly wireKeyCount: number
  readonly invalidAnswerCount: number
  readonly invalidAnswer?: string | undefined
  readonly changeCount: number
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
 * Returns the key in `inputRequests` for a request of `inputRequired` in a task, where each key may be used only once.
 * The appended round makes the key unique. The `~` distinguishes it from every key of an author.
 */
export function formatExplicitKey(key: string, round: number): string {
  return `${key}~r${round}`
}

/**
 * Returns the key in `inputRequests` for a question. From the second time that a question is asked, the number of times
 * is appended.
 */
export function formatWireKey(key: string, occurrence: number): string {
  return occurrence === 1 ? key : `${key}~${occurrence}`
}
