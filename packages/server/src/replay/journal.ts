import type { HandOffReport } from '../shedding/fleet-view.ts'
import { type InputRequest, isJsonObject, type JsonObject, type JsonValue } from '@x/schema'

/**
 * All that is left of a call between two requests: the client's answers, and recorded results. The client stores it
 * sealed; only a task's journal is in a `JournalStore`. Entries are in maps, because a key that an author chooses may
 * be the name of an inherited object member.
 */
export interface Journal {
  /** The same in all rounds of the call. */
  readonly callId: string
  /** When the call began, in milliseconds since 1970. */
  readonly startedAt: number
  /** How many rounds have asked the client. */
  round: number
  /** How often the call was handed off because of load or by the author's policy. */
  shedCount: number
  /** How often the call was handed off because an instance was stopping. */
  stopCount: number
  /**
   * How loaded the instance was that last handed the call off. Undefined if the client was asked since then, or if that
   * instance was stopping.
   */
  handOffReport: HandOffReport | undefined
  /**
   * Every question by key, answered or not. Those that this version of the handler does not ask are kept for other
   * versions of it.
   */
  readonly questions: Map<string, QuestionRecord>
  /** Results of steps, by key. `value` is undefined if the step returned undefined. */
  readonly steps: Map<string, { readonly value?: JsonValue | undefined }>
  /**
   * For each failed step, the effects id of its first attempt. Later attempts use the same id, because the first one
   * may have had an effect.
   */
  readonly tryIds: Map<string, string>
  readonly checkpoints: Map<string, JsonValue>
  /** Values that `ctx.uuid` returned, by key. */
  readonly uuids: Map<string, string>
  /** The last round of `inputRequired`, with its state. Undefined unless `inputRequired` asked the last round. */
  explicitRound: ExplicitRoundRecord | undefined
  /**
   * An id derived from answers to earlier rounds of `inputRequired`, because the journal does not keep those answers.
   */
  pastEffectsId: string | undefined
  /** Parts that extensions recorded of the last run, by name. */
  parts: Readonly<Record<string, JsonObject>>
  /** Members that only a later version of this package knows, kept unchanged for it. */
  readonly unknownMembers: ReadonlyMap<string, JsonValue>
}

/** A question that was asked, and the client's answer if it has arrived. */
export interface QuestionRecord {
  /** A digest of the question's text, in 10 characters. */
  readonly fingerprint: string
  /**
   * How many keys the question has used in `inputRequests`: 1 at first, and one more each time that it is asked again.
   */
  readonly wireKeyCount: number
  readonly invalidAnswerCount: number
  /** A digest of the last invalid answer. If the same answer comes once more, the question is not asked again. */
  readonly invalidAnswer?: string | undefined
  /** How often the question's text has changed. */
  readonly changeCount: number
  /** The client's answer as it arrived. Every run checks it. */
  readonly response?: JsonObject | undefined
}

/** A question that a run asks the client. */
export interface AskedQuestion
  extends Pick<QuestionRecord, 'wireKeyCount' | 'invalidAnswerCount' | 'invalidAnswer' | 'changeCount'> {
  readonly request: InputRequest
  /** The question's JSON, without the reason that is added to its message when it is asked again. */
  readonly text: string
}

/** A round that a handler asked with `inputRequired`: each request's method by key, and the author's state. */
export interface ExplicitRoundRecord {
  readonly methodsByKey: ReadonlyMap<string, string>
  readonly state: JsonValue | undefined
  /** Stored only if the call was handed off after the answers arrived. */
  readonly responses?: ReadonlyMap<string, JsonObject> | undefined
}

export function createEmptyJournal(callId: string, startedAt: number): Journal {
  // Bounded by the journal of one call, whose token has a limit of bytes.
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
 * Describes a question that the client is to answer. If its text has changed it is a new question with a new key, so
 * that no answer to the old text is used.
 */
export function createQuestionRecord(
  { wireKeyCount, invalidAnswerCount, invalidAnswer, changeCount }: AskedQuestion,
  fingerprint: string,
  previousRecord: QuestionRecord | undefined,
): QuestionRecord {
  const isChanged =
    previousRecord !== undefined && previousRecord.response === undefined && previousRecord.fingerprint !== fingerprint
  return {
    fingerprint,
    wireKeyCount: isChanged ? wireKeyCount + 1 : wireKeyCount,
    invalidAnswerCount,
    invalidAnswer,
    changeCount: isChanged ? changeCount + 1 : changeCount,
  }
}

/**
 * The client's answer for a key. Reads only own members, so that a key such as `constructor` finds nothing inherited.
 */
export function responseFor(responses: JsonObject | undefined, key: string): JsonObject | undefined {
  if (responses === undefined || !Object.hasOwn(responses, key)) return undefined
  const response = responses[key]
  return isJsonObject(response) ? response : undefined
}

/**
 * Names a request of `inputRequired` in a task, where each key of `inputRequests` may be used only once: the appended
 * round makes it unique, and the `~` tells it from every key of an author.
 */
export function formatExplicitKey(key: string, round: number): string {
  return `${key}~r${round}`
}

/** A question's key in `inputRequests`. From the second time that it is asked, the number of times is appended. */
export function formatWireKey(key: string, occurrence: number): string {
  return occurrence === 1 ? key : `${key}~${occurrence}`
}
