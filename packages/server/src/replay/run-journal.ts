import type { Call } from '@x/exchange'
import type { InputResponse, JsonObject, JsonValue } from '@x/schema'
import { recordedPartsKey } from '@x/exchange/internal'
import type { Awaitable } from '../request/awaitable.ts'
import type { HandOffReport } from '../shedding/fleet-view.ts'
import { deriveEffectsId, questionFingerprintOf } from './call-identity.ts'
import { inferRequestMethod, isResponseOfKind } from './input-capabilities.ts'
import {
  createEmptyJournal,
  type ExplicitRoundRecord,
  formatWireKey,
  type Journal,
  type QuestionRecord,
  responseFor,
  type StepRecord,
} from './journal.ts'
import { createJournalEntry, type JournalPart, serializeJournal, serializeSealedJournal } from './journal-format.ts'
import type { ServedRequest } from './served-request.ts'

/** The answers to the requests of `inputRequired`, by key. */
type Responses = ReadonlyMap<string, InputResponse>

/** Returns the parts of a call that belong into its journal. Undefined if there are none, as in most calls. */
function recordedPartsOf({ context }: Call): Journal['parts'] | undefined {
  const recorders = context.get(recordedPartsKey)
  if (recorders === undefined) return undefined
  const recordedParts = Object.entries(recorders).map(([name, record]) => [name, record()] as const)
  const journalParts = recordedParts.filter(([, { isInJournal }]) => isInJournal === true)
  return journalParts.length === 0
    ? undefined
    : Object.fromEntries(journalParts.map(([name, { value }]) => [name, value]))
}

/**
 * The journal of a call during one run, with the answers that its request brought. Only this object changes it. Each
 * `record` method but `recordParts` also passes the change to the journal store of a task.
 */
export class RunJournal {
  readonly #request: ServedRequest
  readonly #journal: Journal
  #responses: Responses | undefined
  #effectsId: Awaitable<string> | undefined
  #arePartsRecorded = false

  constructor(request: ServedRequest, journal?: Journal, responses?: Responses) {
    const { randomUuid, wallClock } = request.settings
    this.#request = request
    this.#journal = journal ?? createEmptyJournal(request.callId ?? randomUuid(), wallClock())
    this.#responses = responses
  }

  /** The id of the call, which is the same in all its rounds. */
  get callId(): string {
    return this.#journal.callId
  }

  /** The time at which the call began, in milliseconds since 1970. */
  get startedAt(): number {
    return this.#journal.startedAt
  }

  /** The number of rounds in which the client was asked. */
  get round(): number {
    return this.#journal.round
  }

  /** The number of times that the call was handed off, for any reason. */
  get handOffCount(): number {
    return this.#journal.shedCount + this.#journal.stopCount
  }

  /** The parts that extensions recorded in an earlier run, by name. */
  get parts(): Journal['parts'] {
    return this.#journal.parts
  }

  get shedCount(): number {
    return this.#journal.shedCount
  }

  get stopCount(): number {
    return this.#journal.stopCount
  }

  get handOffReport(): HandOffReport | undefined {
    return this.#journal.handOffReport
  }

  /** The client's answers to the requests of `inputRequired`. Undefined if the request brought none. */
  get responses(): Responses | undefined {
    return this.#responses
  }

  /** The state that the last `inputRequired` was given. */
  get explicitState(): JsonValue | undefined {
    return this.#journal.explicitRound?.state
  }

  /** The answers of the client, by the keys of their questions. */
  get answers(): JsonObject {
    const { questions, explicitRound } = this.#journal
    const answerEntries = Array.from(questions, ([key, { response }]) => [key, response] as const)
    return Object.fromEntries([...answerEntries, ...(explicitRound?.responses ?? [])])
  }

  /** Returns the JSON that is sealed into the `requestState`. */
  serialize(): JsonObject {
    return serializeSealedJournal(this.#journal)
  }

  /** Returns the journal with which the call continues as a task. No request of the task brings the answers again. */
  serializeForTask(): JsonObject {
    return serializeJournal({ ...this.#journal, explicitRound: this.#explicitRoundWithResponses() })
  }

  /**
   * Returns the id from which the idempotency keys and UUIDs of the run are derived. It is cached, because answers do
   * not change during a run.
   */
  effectsId(): Awaitable<string> {
    this.#effectsId ??= deriveEffectsId(this.#journal, this.#responses)
    return this.#effectsId
  }

  /**
   * Stores the given answers beside their questions, and the answers to the requests of `inputRequired`. Answers to
   * questions that were not asked are ignored (basic/patterns/mrtr, error handling).
   */
  receiveAnswers(givenResponses: JsonObject | undefined, responseKeyOf: (key: string) => string): void {
    const { questions } = this.#journal
    for (const [key, question] of questions) {
      const response = question.response ?? responseFor(givenResponses, formatWireKey(key, question.wireKeyCount))
      if (response === undefined) continue
      if (question.response === undefined) this.#request.observation?.newAnswers.add(key)
      questions.set(key, { ...question, response })
    }
    this.#responses = this.#matchResponses((key) => responseFor(givenResponses, responseKeyOf(key)))
  }

  /**
   * Returns the answers to the requests of `inputRequired`. An answer is in the journal if the call was handed off after
   * the answer arrived, and otherwise in this request.
   */
  #matchResponses(findResponse: (key: string) => JsonObject | undefined): Responses {
    const { explicitRound } = this.#journal
    const responses = new Map<string, InputResponse>()
    for (const [key, method] of explicitRound?.methodsByKey ?? []) {
      const response = explicitRound?.responses?.get(key) ?? findResponse(key)
      // The cast is safe, because the params check has accepted the answer and its kind fits the method of the request.
      if (response !== undefined && isResponseOfKind(method, response))
        responses.set(key, response as unknown as InputResponse)
    }
    return responses
  }

  /** Returns the digest of a question or of an answer of this call. */
  fingerprintOf(text: string): Awaitable<string> {
    return questionFingerprintOf(this.#journal.callId, text)
  }

  findQuestion(key: string): QuestionRecord | undefined {
    return this.#journal.questions.get(key)
  }

  recordQuestion(key: string, question: QuestionRecord): void {
    this.#journal.questions.set(key, question)
    this.#append('questions', key)
  }

  findStep(key: string): StepRecord | undefined {
    return this.#journal.steps.get(key)
  }

  recordStep(key: string, value: JsonValue | undefined): void {
    this.#journal.tryIds.delete(key)
    this.#journal.steps.set(key, { value })
    this.#append('steps', key)
  }

  /** Returns the id for the idempotency key of a step. All attempts of a step have the id of the first one. */
  stepEffectsId(key: string): Awaitable<string> {
    return this.#journal.tryIds.get(key) ?? this.effectsId()
  }

  /** Records a failed attempt of a step, which may have had an effect. */
  recordFailedStep(key: string, effectsId: string): void {
    this.#journal.tryIds.set(key, effectsId)
    this.#append('tries', key)
  }

  findCheckpoint(key: string): JsonValue | undefined {
    return this.#journal.checkpoints.get(key)
  }

  recordCheckpoint(key: string, value: JsonValue): void {
    this.#journal.checkpoints.set(key, value)
    this.#append('checkpoints', key)
  }

  findUuid(key: string): string | undefined {
    return this.#journal.uuids.get(key)
  }

  recordUuid(key: string, uuid: string): void {
    this.#journal.uuids.set(key, uuid)
    this.#append('uuids', key)
  }

  /** Records the requests and the state of `inputRequired`. */
  recordExplicitRound(methodsByKey: ReadonlyMap<string, string>, state: JsonValue | undefined): void {
    this.#setExplicitRound({ methodsByKey, state })
  }

  /** Removes the requests and the state of the last `inputRequired`, because the handler now asks with `ctx`. */
  endExplicitRound(): void {
    if (this.#journal.explicitRound !== undefined) this.#setExplicitRound(undefined)
  }

  #setExplicitRound(explicitRound: ExplicitRoundRecord | undefined): void {
    this.#journal.explicitRound = explicitRound
    this.#append('explicit')
  }

  /** Records an id derived from the answers to `inputRequired`, which the journal does not keep. */
  recordPastEffects(effectsId: string): void {
    this.#journal.pastEffectsId = effectsId
    this.#append('past')
  }

  /** Counts a round in which the client is asked. Returns the number of rounds. */
  recordRound(): number {
    this.#journal.round++
    // Users take their time, so the load report would be outdated when the answer arrives.
    this.#journal.handOffReport = undefined
    this.#append('round')
    return this.#journal.round
  }

  /**
   * Commits the recorded entries to the journal store. `next` is the step whose work follows, if there is one. Returns
   * undefined if there is nothing to wait for.
   */
  commit(next?: { readonly step: string }): Promise<void> | undefined {
    return this.#request.journalStore?.commit(next)
  }

  #append(part: JournalPart, key?: string): void {
    const { journalStore } = this.#request
    if (journalStore === undefined) return
    journalStore.append(createJournalEntry(this.#journal, part, key))
    // The parts accompany another entry, so that they cause no commit of their own.
    if (!this.#arePartsRecorded && this.recordParts()) journalStore.append(createJournalEntry(this.#journal, 'parts'))
  }

  /** Replaces the recorded parts by those of this run. Returns false if its extensions record none. */
  recordParts(): boolean {
    this.#arePartsRecorded = true
    const parts = recordedPartsOf(this.#request.call)
    if (parts === undefined) return false
    this.#journal.parts = parts
    return true
  }

  /**
   * Returns the journal with which the call continues at another instance. `report` is the load of this instance, and
   * undefined if this instance is stopping. Such hand-offs are counted separately. The returned journal shares its
   * entries with this one, so it is sealed at once, and only its parts change.
   */
  toHandedOff(report: HandOffReport | undefined): RunJournal {
    const { shedCount, stopCount } = this.#journal
    const counts = report === undefined ? { stopCount: stopCount + 1 } : { shedCount: shedCount + 1 }
    const explicitRound = this.#explicitRoundWithResponses()
    return new RunJournal(this.#request, { ...this.#journal, ...counts, handOffReport: report, explicitRound })
  }

  /**
   * Returns the record of the last `inputRequired`, with the answers. They came with this request, and the client does
   * not send them to the next instance.
   */
  #explicitRoundWithResponses(): ExplicitRoundRecord | undefined {
    const { explicitRound } = this.#journal
    if (this.#responses === undefined || (explicitRound === undefined && this.#responses.size === 0))
      return explicitRound
    // The cast is safe, because the answers came as JSON. The compiler only objects that their interfaces have no index
    // signature.
    const responses = this.#responses as ReadonlyMap<string, unknown> as ReadonlyMap<string, JsonObject>
    // Answers that came with the first request have no recorded requests, so the answers themselves show the methods.
    const methodsByKey = new Map(Array.from(responses, ([key, response]) => [key, inferRequestMethod(response)]))
    return { methodsByKey, state: undefined, ...explicitRound, responses }
  }

  /**
   * Returns a copy for another run of the same request. Later changes of this journal do not reach the copy.
   */
  copyForNextRun(): RunJournal {
    return new RunJournal(this.#request, structuredClone(this.#journal), this.#responses)
  }

  /** Returns the key of a recorded step that a run without such a use, as `step key`, has not reached. */
  findUnusedStep(useKeys: ReadonlyMap<string, string> | undefined): string | undefined {
    const { steps, checkpoints } = this.#journal
    if (steps.size === 0 || checkpoints.size > 0) return undefined
    return [...steps.keys()].find((key) => useKeys?.has(`step ${key}`) !== true)
  }
}
