import { onCancel, offCancel } from '@x/core'
import { callerKeyOf } from '@x/exchange'
import type { JsonObject, RpcResponse } from '@x/schema'
import type { CallDeps } from './call-deps.ts'
import { type CallChannel, CallHandedOffError, type LegacyCall } from './call-channel.ts'
import type { OpenQuestion } from './open-questions.ts'
import type { StoredRound } from './round-store.ts'
import type { CallFailure, RoundQuestion, WaitingRound } from './waiting-round.ts'

/** One question's answer, or why its call cannot continue. */
export type RoundAnswer = { readonly response: JsonObject } | { readonly failure: CallFailure }

/** Collects the answers of a round that waits at this instance. */
export class AnswerCollector {
  /** Resolves with the answers, by the keys of their questions. Rejects with the abort reason of a cancelled call. */
  readonly answers: Promise<ReadonlyMap<string, RoundAnswer>>
  readonly #channel: CallChannel
  readonly #deps: CallDeps
  // Bounded by the questions of one call.
  readonly #questions = new Map<RoundQuestion, OpenQuestion>()
  // Bounded by the questions of one call.
  readonly #collected = new Map<string, RoundAnswer>()
  readonly #cancelTimer: () => void
  #resolve = (_: ReadonlyMap<string, RoundAnswer>): void => {}
  #reject = (_: unknown): void => {}
  /** How the round was stored, and which of its questions have a `state`. Bounded by the questions of one call. */
  storedRound: StoredRound = { states: new Map(), isShared: true }
  #hasStopped = false

  /** Waits for the answers to a round's questions. Throws `LimitError` if the caller has too many open questions. */
  constructor(round: WaitingRound, { channel }: LegacyCall, deps: CallDeps) {
    this.#channel = channel
    this.#deps = deps
    this.answers = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    // If the questions cannot be sent, nothing awaits this promise.
    this.answers.catch(() => {})
    const remainingMs = round.askedAt + deps.settings.answerTimeoutMs - deps.now()
    this.#cancelTimer = deps.schedule(() => this.#giveUp(), Math.max(1, remainingMs))
    try {
      for (const question of round.questions) this.#open(question, round)
    } catch (error) {
      this.stop()
      throw error
    }
    onCancel(channel, this.#onCancelled)
  }

  /** Takes an answer that another instance has received. */
  accept(response: RpcResponse): void {
    for (const question of this.#questions.keys()) if (question.id === response.id) this.#collect(question, response)
  }

  /** Notes how the round was stored, and which of its questions have a `state`. */
  noteStored(storedRound: StoredRound): void {
    this.storedRound = storedRound
    for (const [{ id }, openQuestion] of this.#questions) openQuestion.hasState = storedRound.states.has(id)
  }

  stop(): void {
    if (this.#hasStopped) return
    this.#hasStopped = true
    this.#cancelTimer()
    offCancel(this.#channel, this.#onCancelled)
    for (const openQuestion of this.#questions.values()) openQuestion.close()
  }

  #open(question: RoundQuestion, { owner }: WaitingRound): void {
    const callerKey = callerKeyOf(this.#channel.caller)
    const onAnswer = (response: RpcResponse): void => this.#collect(question, response)
    this.#questions.set(question, this.#deps.questions.open({ id: question.id, owner, callerKey, onAnswer }))
  }

  #collect({ key, method }: RoundQuestion, answer: RoundAnswer | RpcResponse): void {
    if (this.#hasStopped || this.#collected.has(key)) return
    this.#collected.set(key, 'jsonrpc' in answer ? toRoundAnswer(method, answer) : answer)
    if (this.#collected.size < this.#questions.size) return
    this.stop()
    this.#resolve(this.#collected)
  }

  readonly #onCancelled = (reason: unknown): void => {
    // If another instance continues the call, it still needs the answers, so the questions are not withdrawn.
    if (!(reason instanceof CallHandedOffError)) this.#withdrawOpenQuestions('The call was cancelled')
    this.stop()
    this.#reject(reason)
  }

  #giveUp(): void {
    this.#withdrawOpenQuestions('No answer came in time')
    const message = 'The client did not answer in time'
    // If an instance has received an answer with its `state`, it runs the call, and this one must not.
    const isElsewhere = this.storedRound.states.size > 0 && !this.storedRound.isShared
    for (const question of this.#questions.keys())
      this.#collect(question, isElsewhere ? { failure: { message } } : createFailedAnswer(question.method, message))
  }

  #withdrawOpenQuestions(reason: string): void {
    for (const [{ key, id }, openQuestion] of this.#questions) {
      if (this.#collected.has(key)) continue
      if (openQuestion.hasState) this.#deps.stateRounds?.withdraw(id)
      const params = { requestId: id, reason }
      this.#channel.notifyOfQuestion({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
    }
  }
}

/** Reads the answer in a response. For a form or a URL, an error counts as a `cancel` of the user. */
function toRoundAnswer(method: string, response: RpcResponse): RoundAnswer {
  if ('result' in response) return { response: response.result }
  return createFailedAnswer(method, `The client answered ${method} with an error: ${response.error.message}`)
}

/** For a question without a result: `cancel` for a form or a URL, otherwise a failure of the call. */
function createFailedAnswer(method: string, message: string): RoundAnswer {
  return method === 'elicitation/create' ? { response: { action: 'cancel' } } : { failure: { message } }
}
