import type { Call } from '@x/exchange'
import type { InputResponse, JsonObject, JsonValue } from '@x/schema'
import { recordedPartsKey } from '@x/exchange/internal'
import type { Awaitable } from '../request/awaitable.ts'
import type { HandOffReport } from '../shedding/fleet-view.ts'
import { deriveEffectsId, questionFingerprintOf } from './call-identity.ts'
import { inferRequestMethod, isResponseOfKind } from './input-capabilities.ts'
import {
  type AskedQuestion,
  createEmptyJournal,
  createQuestionRecord,
  type ExplicitRoundRecord,
  formatWireKey,
  type Journal,
  type QuestionRecord,
  responseFor,
} from './journal.ts'
import { createJournalEntry, type JournalPart, serializeJournal, serializeSealedJournal } from './journal-format.ts'
import type { ServedRequest } from './served-request.ts'

type Responses = ReadonlyMap<string, InputResponse>

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
 * A call's journal during one run, with the answers that its request brought. Nothing else changes it. Each `record`
 * method but `recordParts` also passes the change to a task's journal store.
 */
export class RunJournal {
  /** What this run and the earlier ones have recorded, beside their entries. */
  readonly recorded: Readonly<
    Pick<Journal, 'startedAt' | 'round' | 'shedCount' | 'stopCount' | 'handOffReport' | 'parts'>
  >
  readonly #request: ServedRequest
  readonly #journal: Journal
  #responses: Responses | undefined
  #effectsId: Awaitable<string> | undefined
  #arePartsRecorded = false

  constructor(request: ServedRequest, journal?: Journal, responses?: Responses) {
    const { randomUuid, wallClock } = request.settings
    this.#request = request
    this.#journal = journal ?? createEmptyJournal(request.callId ?? randomUuid(), wallClock())
    this.recorded = this.#journal
    this.#responses = responses
  }

  /** How often the call was handed off, for any reason. */
  get handOffCount(): number {
    return this.#journal.shedCount + this.#journal.stopCount
  }

  /** Answers to the requests of `inputRequired`. Undefined if the request brought none. */
  get responses(): Responses | undefined {
    return this.#responses
  }

  /** The state that the last `inputRequired` was given. */
  get explicitState(): JsonValue | undefined {
    return this.#journal.explicitRound?.state
  }

  /** The client's answers, by the keys of their questions. */
  get answers(): JsonObject {
    const { questions, explicitRound } = this.#journal
    const answerEntries = Array.from(questions, ([key, { response }]) => [key, response] as const)
    return Object.fromEntries([...answerEntries, ...(explicitRound?.responses ?? [])])
  }

  /** The JSON that is sealed into the `requestState`. */
  serialize(): JsonObject {
    return serializeSealedJournal(this.#journal)
  }

  /** The journal with which the call continues as a task, whose own requests do not bring the answers again. */
  serializeForTask(): JsonObject {
    return serializeJournal({ ...this.#journal, explicitRound: this.#explicitRoundWithResponses() })
  }

  /**
   * Idempotency keys and UUIDs of the run are derived from this id. Answers do not change during a run, so it is
   * cached.
   */
  effectsId(): Awaitable<string> {
    this.#effectsId ??= deriveEffectsId(this.#journal, this.#responses)
    return this.#effectsId
  }

  /**
   * Puts the given answers beside their questions, and keeps those to the requests of `inputRequired`. Answers to
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
   * Answers to the requests of `inputRequired` are in the journal if the call was handed off after they arrived,
   * otherwise in this request.
   */
  #matchResponses(findResponse: (key: string) => JsonObject | undefined): Responses {
    const { explicitRound } = this.#journal
    const responses = new Map<string, InputResponse>()
    for (const [key, method] of explicitRound?.methodsByKey ?? []) {
      const response = explicitRound?.responses?.get(key) ?? findResponse(key)
      // The cast is safe: the params check has accepted the answer, and its kind fits the request's method.
      if (response !== undefined && isResponseOfKind(method, response))
        responses.set(key, response as unknown as InputResponse)
    }
    return responses
  }

  /** Digests a question or an answer of this call. */
  fingerprintOf(text: string): Awaitable<string> {
    return questionFingerprintOf(this.#journal.callId, text)
  }

  findQuestion(key: string): QuestionRecord | undefined {
    return this.#journal.questions.get(key)
  }

  /** Records a question as unanswered, and returns its key in `inputRequests`. */
  async recordQuestion(key: string, question: AskedQuestion): Promise<string> {
    const record = createQuestionRecord(question, await this.fingerprintOf(question.text), this.findQuestion(key))
    this.#journal.questions.set(key, record)
    this.#append('questions', key)
    return formatWireKey(key, record.wireKeyCount)
  }

  findStep(key: string): ReturnType<Journal['steps']['get']> {
    return this.#journal.steps.get(key)
  }

  recordStep(key: string, value: JsonValue | undefined): void {
    this.#journal.tryIds.delete(key)
    this.#journal.steps.set(key, { value })
    this.#append('steps', key)
  }

  /** A step's idempotency key comes from this id. All attempts of a step have that of the first one. */
  stepEffectsId(key: string): Awaitable<string> {
    return this.#journal.tryIds.get(key) ?? this.effectsId()
  }

  /** Records a failed attempt, because it may have had an effect. */
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

  recordExplicitRound(methodsByKey: ReadonlyMap<string, string>, state: JsonValue | undefined): void {
    this.#setExplicitRound({ methodsByKey, state })
  }

  /** Forgets the last `inputRequired`, because the handler now asks with `ctx`. */
  endExplicitRound(): void {
    if (this.#journal.explicitRound !== undefined) this.#setExplicitRound(undefined)
  }

  #setExplicitRound(explicitRound: ExplicitRoundRecord | undefined): void {
    this.#journal.explicitRound = explicitRound
    this.#append('explicit')
  }

  /** Records an id of the answers to `inputRequired`: they are not kept, and later effects depend on them. */
  async recordPastEffects(): Promise<void> {
    if (this.#responses === undefined || this.#responses.size === 0) return
    this.#journal.pastEffectsId = await this.effectsId()
    this.#append('past')
  }

  /** Counts a round that asks the client, and returns how many there were. */
  recordRound(): number {
    this.#journal.round++
    // Users take their time, and the load report would be outdated when the answer arrives.
    this.#journal.handOffReport = undefined
    this.#append('round')
    return this.#journal.round
  }

  /**
   * Commits the recorded entries to the journal store; undefined if there is nothing to wait for. `next` is the step
   * whose work follows, if there is one.
   */
  commit(next?: { readonly step: string }): Promise<void> | undefined {
    return this.#request.journalStore?.commit(next)
  }

  #append(part: JournalPart, key?: string): void {
    const { journalStore } = this.#request
    if (journalStore === undefined) return
    journalStore.append(createJournalEntry(this.#journal, part, key))
    // Parts accompany another entry, so that they cause no commit of their own.
    if (!this.#arePartsRecorded && this.recordParts()) journalStore.append(createJournalEntry(this.#journal, 'parts'))
  }

  /** Replaces the recorded parts by those of this run. False if its extensions record none. */
  recordParts(): boolean {
    this.#arePartsRecorded = true
    const parts = recordedPartsOf(this.#request.call)
    if (parts === undefined) return false
    this.#journal.parts = parts
    return true
  }

  /**
   * The journal with which another instance continues the call. `report` is this instance's load, undefined if it is
   * stopping; such hand-offs are counted separately. Entries are shared with this journal, so seal the new one at once;
   * only its parts change.
   */
  toHandedOff(report: HandOffReport | undefined): RunJournal {
    const { shedCount, stopCount } = this.#journal
    const counts = report === undefined ? { stopCount: stopCount + 1 } : { shedCount: shedCount + 1 }
    const explicitRound = this.#explicitRoundWithResponses()
    return new RunJournal(this.#request, { ...this.#journal, ...counts, handOffReport: report, explicitRound })
  }

  /**
   * The last `inputRequired` with its answers: they came with this request, and the client does not send them to the
   * next instance.
   */
  #explicitRoundWithResponses(): ExplicitRoundRecord | undefined {
    const { explicitRound } = this.#journal
    if (this.#responses === undefined || (explicitRound === undefined && this.#responses.size === 0))
      return explicitRound
    // The cast is safe: the answers came as JSON, and the compiler only misses an index signature in their interfaces.
    const responses = this.#responses as ReadonlyMap<string, unknown> as ReadonlyMap<string, JsonObject>
    // Answers to a first request have no recorded requests, so they themselves show the methods.
    const methodsByKey = new Map(Array.from(responses, ([key, response]) => [key, inferRequestMethod(response)]))
    return { methodsByKey, state: undefined, ...explicitRound, responses }
  }

  /** For another run of the same request, out of reach of later changes here. */
  copyForNextRun(): RunJournal {
    return new RunJournal(this.#request, structuredClone(this.#journal), this.#responses)
  }

  /** The key of a recorded step that a run without such a use, as `step key`, has not reached. */
  findUnusedStep(useKeys: ReadonlyMap<string, string> | undefined): string | undefined {
    const { steps, checkpoints } = this.#journal
    if (steps.size === 0 || checkpoints.size > 0) return undefined
    return [...steps.keys()].find((key) => useKeys?.has(`step ${key}`) !== true)
  }
}
