import { onCancel, offCancel } from '@x/core'
import { callerKeyOf } from '@x/exchange'
import type { JsonObject, RpcNotification, RpcResponse } from '@x/schema'
import type { CallDeps } from './call-deps.ts'
import { CallHandedOffError, type LegacyCall } from './call-channel.ts'
import type { OpenQuestion } from './open-questions.ts'
import type { StoredRound } from './round-store.ts'
import type { CallFailure, RoundQuestion, WaitingRound } from './waiting-round.ts'

/** One question's answer, or why its call cannot continue. */
export type RoundAnswer = { readonly response: JsonObject } | { readonly failure: CallFailure }

/** Collects the answers of a round that waits at this instance. */
export interface AnswerCollector {
  /** Resolves with the answers, by the keys of their questions. Rejects with the abort reason of a cancelled call. */
  readonly answers: Promise<ReadonlyMap<string, RoundAnswer>>
  /** Takes an answer that another instance has received. */
  accept(response: RpcResponse): void
  /** Notes how the round was stored, and which of its questions have a `state`. */
  noteStored(storedRound: StoredRound): void
  stop(): void
}

interface CollectedQuestion extends RoundQuestion {
  readonly openQuestion: OpenQuestion
}

/** Waits for the answers to a round's questions. Throws `LimitError` if the caller has too many open questions. */
export function collectAnswers(round: WaitingRound, { channel }: LegacyCall, deps: CallDeps): AnswerCollector {
  const collected = new Map<string, RoundAnswer>()
  const questions: CollectedQuestion[] = []
  const { promise, resolve, reject } = createDeferred<ReadonlyMap<string, RoundAnswer>>()
  // If the questions cannot be sent, nothing awaits this promise.
  promise.catch(() => {})
  // Bounded by the questions of one call.
  let storedRound: StoredRound = { states: new Map(), isShared: true }
  let hasStopped = false
  const stop = (): void => {
    if (hasStopped) return
    hasStopped = true
    cancelTimer()
    offCancel(channel, onCancelled)
    for (const { openQuestion } of questions) openQuestion.close()
  }
  const accept = ({ key, method }: RoundQuestion, answer: RoundAnswer | RpcResponse): void => {
    if (hasStopped || collected.has(key)) return
    collected.set(key, 'jsonrpc' in answer ? toRoundAnswer(method, answer) : answer)
    if (collected.size < questions.length) return
    stop()
    resolve(collected)
  }
  const withdrawOpenQuestions = (reason: string): void => {
    const openQuestions = questions.filter(({ key }) => !collected.has(key))
    for (const question of openQuestions) withdrawQuestion(question, reason, { channel, deps })
  }
  const onCancelled = (reason: unknown): void => {
    // If another instance continues the call, it still needs the answers, so the questions are not withdrawn.
    if (!(reason instanceof CallHandedOffError)) withdrawOpenQuestions('The call was cancelled')
    stop()
    reject(reason)
  }
  const onTimeout = (): void => {
    withdrawOpenQuestions('No answer came in time')
    const message = 'The client did not answer in time'
    // If an instance has received an answer with its `state`, it runs the call, and this one must not.
    const isElsewhere = storedRound.states.size > 0 && !storedRound.isShared
    for (const question of questions)
      accept(question, isElsewhere ? { failure: { message } } : createFailedAnswer(question.method, message))
  }
  const cancelTimer = deps.schedule(onTimeout, Math.max(1, round.askedAt + deps.settings.answerTimeoutMs - deps.now()))
  try {
    for (const question of round.questions)
      questions.push(openQuestion(question, (response) => accept(question, response), { round, channel, deps }))
  } catch (error) {
    stop()
    throw error
  }
  onCancel(channel, onCancelled)
  return {
    answers: promise,
    accept: (response) =>
      questions.filter(({ id }) => id === response.id).forEach((question) => accept(question, response)),
    noteStored(newRound) {
      storedRound = newRound
      for (const { id, openQuestion } of questions) openQuestion.hasState = storedRound.states.has(id)
    },
    stop,
  }
}

function openQuestion(
  question: RoundQuestion,
  onAnswer: (response: RpcResponse) => void,
  { round, channel, deps }: Pick<LegacyCall, 'channel'> & { readonly round: WaitingRound; readonly deps: CallDeps },
): CollectedQuestion {
  const init = { id: question.id, owner: round.owner, callerKey: callerKeyOf(channel.caller), onAnswer }
  return { ...question, openQuestion: deps.questions.open(init) }
}

function withdrawQuestion(
  { id, openQuestion }: CollectedQuestion,
  reason: string,
  { channel, deps }: Pick<LegacyCall, 'channel'> & { readonly deps: CallDeps },
): void {
  if (openQuestion.hasState) deps.stateRounds?.withdraw(id)
  channel.notifyOfQuestion(createCancelledMessage(id, reason))
}

function createDeferred<T>() {
  let resolve = (_: T): void => {}
  let reject = (_: unknown): void => {}
  const promise = new Promise<T>((resolvePromise, rejectPromise) => {
    resolve = resolvePromise
    reject = rejectPromise
  })
  return { promise, resolve, reject }
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

function createCancelledMessage(requestId: string, reason: string): RpcNotification {
  return { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId, reason } }
}
