import { isCancelled, randomId } from '@x/core'
import { callerKeyOf } from '@x/exchange'
import {
  type ClientCapabilities,
  findMissingCapabilities,
  type InputRequest,
  type JsonObject,
  type JsonValue,
} from '@x/schema'
import { requiredCapabilitiesOf, toLegacyInputRequest } from '../../translate/input-request.ts'
import type { LegacyClient } from '../../translate/request.ts'
import type { CallDeps } from './call-deps.ts'
import { AnswerCollector } from './answer-collector.ts'
import { CallHandedOffError, type LegacyCall } from './call-channel.ts'
import type { StoredRound } from './round-store.ts'
import type { UrlPages } from './url-pages.ts'
import { type CallFailure, type RoundQuestion, sizeOfRound, type WaitingRound } from './waiting-round.ts'

/** One round's answers by their keys, or why the call cannot continue. */
export type RoundOutcome =
  | { readonly answers: JsonObject; readonly isClientInvolved: boolean }
  | { readonly failure: CallFailure }

/** A call that may ask its client, with the pages that it has asked its user to visit. */
export interface InteractiveCall extends LegacyCall {
  readonly urlPages: UrlPages
  /** The part of a round that comes from earlier ones. */
  readonly roundState: { readonly requestState: JsonValue | undefined; readonly roundCount: number }
}

/** Sends all questions of one round to the client, and waits for the answers. */
export async function askClient(requests: JsonObject, call: InteractiveCall, deps: CallDeps): Promise<RoundOutcome> {
  const entries = Object.entries(requests)
  if (entries.length === 0) return { answers: {}, isClientInvolved: true }
  const preparedRound = prepareRound(entries, call, deps)
  if ('failure' in preparedRound) return preparedRound
  const { round, repeatedPages } = preparedRound
  if (round.questions.length === 0) return waitForPages(repeatedPages, call, deps)
  return holdRound(round, call, deps, async (collector) => {
    const storedRound = await deps.rounds.keep(round, call.client)
    if (isCancelled(call.channel)) throw call.channel.signal.reason
    collector.noteStored(storedRound)
    askOnChannel(round, storedRound, call)
    return finishRound(round, { collector, repeatedPages }, call, deps)
  })
}

/** Continues a round whose questions another instance has sent, or this one before a restart. */
export async function resumeRound(round: WaitingRound, call: InteractiveCall, deps: CallDeps): Promise<RoundOutcome> {
  return holdRound(round, call, deps, async (collector) => {
    // If questions were sent with a `state`, their answers must contain it.
    const sentStates = deps.stateRounds === undefined ? [] : round.questions.map(({ id }) => [id, ''] as const)
    const storedRound: StoredRound = { states: new Map(sentStates), isShared: true }
    collector.noteStored(storedRound)
    call.channel.onQuestionsSent(round, storedRound)
    const { signal } = call.channel
    // Perhaps the client resumed the stream because its instance was killed, while the store restarts.
    const earlierAnswers = await deps.retryUnavailable(() => deps.rounds.listAnswers(round), { signal })
    for (const answer of earlierAnswers) collector.accept(answer)
    const repeatedPages = round.repeatedKeys.map((key) => [key, Promise.resolve('accept' as const)] as const)
    return finishRound(round, { collector, repeatedPages }, call, deps)
  })
}

/** Counts a round in its caller's quota and collects its answers, until `wait` has settled. */
async function holdRound(
  round: WaitingRound,
  call: InteractiveCall,
  deps: CallDeps,
  wait: (collector: AnswerCollector) => Promise<RoundOutcome>,
): Promise<RoundOutcome> {
  const release = countWaitingRound(round, call, deps)
  try {
    const collector = new AnswerCollector(round, call, deps)
    try {
      return await wait(collector)
    } catch (error) {
      collector.stop()
      throw error
    }
  } finally {
    deps.rounds.release(round)
    release()
  }
}

/** Counts a waiting call in its caller's quotas, in number and in bytes. The returned function releases them. */
function countWaitingRound(round: WaitingRound, { channel }: InteractiveCall, { ledger }: CallDeps): () => void {
  const callerKey = callerKeyOf(channel.caller)
  const releaseBytes = ledger.take('bytes', callerKey, sizeOfRound(round))
  try {
    const releaseCall = ledger.take('waiting_calls', callerKey)
    return () => {
      releaseBytes()
      releaseCall()
    }
  } catch (error) {
    releaseBytes()
    throw error
  }
}

type RepeatedPage = readonly [key: string, answer: Promise<'accept' | 'cancel'>]

function prepareRound(
  entries: readonly (readonly [string, JsonValue | undefined])[],
  call: InteractiveCall,
  deps: CallDeps,
):
  | { readonly round: WaitingRound; readonly repeatedPages: readonly RepeatedPage[] }
  | Extract<RoundOutcome, { failure: unknown }> {
  const { channel, urlPages, roundState, request } = call
  const questions: RoundQuestion[] = []
  const repeatedPages: RepeatedPage[] = []
  for (const [key, inputRequest] of entries) {
    // The exchange has checked the input requests of its result.
    const prepared = prepareQuestion(key, inputRequest as unknown as InputRequest, call)
    if ('failure' in prepared) return prepared
    if ('repeated' in prepared) repeatedPages.push([key, prepared.repeated])
    else questions.push(prepared)
  }
  const round: WaitingRound = {
    id: randomId(),
    owner: channel.owner ?? '',
    request,
    ...roundState,
    questions,
    repeatedKeys: repeatedPages.map(([key]) => key),
    streamId: channel.stream.id,
    eventCount: channel.stream.countEvents(),
    pages: urlPages.listAcceptedPages(),
    askedAt: deps.now(),
  }
  return { round, repeatedPages }
}

function prepareQuestion(
  key: string,
  request: InputRequest,
  { client, channel, urlPages }: InteractiveCall,
): RoundQuestion | { readonly repeated: Promise<'accept' | 'cancel'> } | { readonly failure: CallFailure } {
  const url = request.method === 'elicitation/create' && request.params.mode === 'url' ? request.params.url : undefined
  const repeated = url === undefined ? undefined : urlPages.answerRepeatedQuestion(url)
  if (repeated !== undefined) return { repeated }
  const elicitationId = url === undefined ? '' : urlPages.getElicitationId(url)
  if (channel.owner === undefined) return { failure: { message: 'This client cannot be asked: it has no session' } }
  const missingCapabilities = findMissing(request, client)
  if (missingCapabilities !== undefined) return { failure: { missingCapabilities } }
  const question = toLegacyInputRequest(request, client.revision, elicitationId)
  if ('unsupported' in question)
    return { failure: { unsupported: `${question.unsupported}, which revision ${client.revision} does not have` } }
  // A question's id begins with the id of its stream, so any instance can find the call to which an answer belongs.
  const id = channel.stream.id === '' ? randomId() : `${channel.stream.id}.${randomId().slice(0, 8)}`
  return { key, id, method: request.method, params: question.request.params }
}

/** A server behind a proxy may ask what the client has not declared (client/elicitation, client/sampling). */
function findMissing(request: InputRequest, { capabilities }: LegacyClient): ClientCapabilities | undefined {
  const params = 'params' in request ? request.params : undefined
  return findMissingCapabilities(capabilities, requiredCapabilitiesOf(request.method, params) ?? {})
}

function askOnChannel(round: WaitingRound, storedRound: StoredRound, { channel }: InteractiveCall): void {
  for (const { id, method, params } of round.questions) {
    const state = storedRound.states.get(id)
    channel.ask(
      { jsonrpc: '2.0', id, ...(state !== undefined && { state }), method, ...(params && { params }) },
      storedRound,
    )
  }
  channel.onQuestionsSent(round, storedRound)
}

/** Waits for all answers of a round. Throws `CallHandedOffError` if another instance claims the round. */
async function finishRound(
  round: WaitingRound,
  {
    collector,
    repeatedPages,
  }: { readonly collector: AnswerCollector; readonly repeatedPages: readonly RepeatedPage[] },
  call: InteractiveCall,
  deps: CallDeps,
): Promise<RoundOutcome> {
  const answers = await collector.answers
  const { storedRound } = collector
  // Perhaps only this instance has all answers, so from here on another one can take the round over only by a claim.
  deps.rounds.release(round)
  const pageAnswers = await Promise.all(repeatedPages.map(async ([key, answer]) => [key, await answer] as const))
  if (!(await mayUseAnswers(round, storedRound, call, deps))) throw new CallHandedOffError()
  call.channel.onAnswered(round, storedRound)
  const responses: Record<string, JsonObject> = {}
  for (const [key, action] of pageAnswers) responses[key] = { action }
  for (const { key, method, params } of round.questions) {
    const answer = answers.get(key)
    if (answer === undefined || 'failure' in answer) return answer ?? { failure: { message: `No answer to ${method}` } }
    responses[key] = answer.response
    acceptVisitedPage(params, answer.response, call.urlPages)
  }
  return { answers: responses, isClientInvolved: true }
}

/**
 * True if this instance may use a round's answers. If a round was stored, or may have been, another instance may find
 * it, so it needs a claim. Rejects if the store stays unreachable.
 */
async function mayUseAnswers(
  round: WaitingRound,
  storedRound: StoredRound,
  { channel }: InteractiveCall,
  deps: CallDeps,
): Promise<boolean> {
  if (!storedRound.isShared && storedRound.mayBeShared !== true) return true
  // One instance may wait for the same answers twice: for the client that sent one, and for the client that resumed the
  // stream.
  const claimant = randomId()
  // While the store is unreachable, the claim is repeated, so that the answers are not lost.
  return deps.retryUnavailable(() => deps.rounds.claim(round, claimant), { signal: channel.signal })
}

function acceptVisitedPage(params: JsonObject | undefined, { action }: JsonObject, urlPages: UrlPages): void {
  const { mode, url, elicitationId } = params ?? {}
  if (mode !== 'url' || action !== 'accept' || typeof url !== 'string') return
  urlPages.accept(url, typeof elicitationId === 'string' ? elicitationId : undefined)
}

/**
 * Pauses before the handler runs again and checks the pages that the user is visiting. Meanwhile the call counts as
 * running.
 */
async function waitForPages(
  repeatedPages: readonly RepeatedPage[],
  { channel }: InteractiveCall,
  { ledger, beginWork }: CallDeps,
): Promise<RoundOutcome> {
  const release = ledger.take('calls', callerKeyOf(channel.caller))
  const endWork = beginWork()
  try {
    const answers: Record<string, JsonObject> = {}
    for (const [key, answer] of repeatedPages) answers[key] = { action: await answer }
    return { answers, isClientInvolved: false }
  } finally {
    release()
    endWork()
  }
}
