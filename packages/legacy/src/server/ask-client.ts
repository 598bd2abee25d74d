import { offAbort, onAbort, randomId } from '@x/core'
import {
  type InputRequest,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type RpcNotification,
  type RpcRequestFields,
  type RpcResponse,
} from '@x/schema'
import { toLegacyInputRequest } from '../translate/input-request.ts'
import { type CallChannel, CallHandedOffError, type LegacyCall } from './call-channel.ts'
import type { Deps } from './deps.ts'
import type { AcceptedPage, OpenedState, WaitingCall } from './question-state.ts'
import { type PendingServerRequest, createQuestionId } from './question-registry.ts'

/** The answers of one round by their keys, or why the call cannot go on. */
export type RoundOutcome =
  | { readonly answers: JsonObject; readonly isClientInvolved: boolean }
  | { readonly failure: { readonly missingCapabilities: JsonObject } | { readonly message: string } }

/** The answer to one question, or why its call cannot go on. */
export type RoundAnswer =
  | { readonly response: JsonObject; readonly isClientInvolved: boolean }
  | Extract<RoundOutcome, { readonly failure: unknown }>

/** A call that asks, with the pages that its user was sent to. */
export interface InteractiveCall extends LegacyCall {
  readonly urlQuestions: UrlQuestions
  /** The part of its state that comes from earlier rounds. */
  readonly roundState: { readonly requestState: JsonValue | undefined; readonly roundCount: number }
}

/** One question of a round. */
interface PreparedQuestion {
  readonly key: string
  readonly answer: Promise<RoundAnswer>
  /** The request that is sent to the client; undefined for a question that needs none. */
  readonly sentRequest:
    | { readonly request: RpcRequestFields; readonly pendingRequest: PendingServerRequest }
    | undefined
}

/** Asks the client for everything that one round wants, all at once. */
export async function askClient(requests: JsonObject, call: InteractiveCall, deps: Deps): Promise<RoundOutcome> {
  const entries = Object.entries(requests)
  if (entries.length === 0) return { answers: {}, isClientInvolved: true }
  // The exchange checks its requests before it answers with them.
  const preparedQuestions = entries.map(([key, request]) =>
    prepareQuestion(key, request as unknown as InputRequest, { call, deps }),
  )
  const answersPromise = Promise.all(preparedQuestions.map(async ({ key, answer }) => [key, await answer] as const))
  // A round that failed before it was asked is not asked.
  answersPromise.catch(() => {})
  const isStored = await sendQuestions(preparedQuestions, call, deps)
  const outcome = toRoundOutcome(new Map(await answersPromise))
  if (isStored && (await call.channel.link?.claim()) === false) throw new CallHandedOffError()
  if (preparedQuestions.some(({ sentRequest }) => sentRequest?.pendingRequest.hasState)) call.channel.onAnswered()
  return outcome
}

/** Joins the answers of a round; one that failed is the failure of all. */
export function toRoundOutcome(answers: ReadonlyMap<string, RoundAnswer>): RoundOutcome {
  const responses: Record<string, JsonObject> = {}
  let isUserInvolved = false
  for (const [key, answer] of answers) {
    if ('failure' in answer) return answer
    responses[key] = answer.response
    isUserInvolved ||= answer.isClientInvolved
  }
  return { answers: responses, isClientInvolved: isUserInvolved }
}

interface QuestionContext {
  readonly call: InteractiveCall
  readonly deps: Deps
}

function prepareQuestion(key: string, request: InputRequest, { call, deps }: QuestionContext): PreparedQuestion {
  const url = request.method === 'elicitation/create' && request.params.mode === 'url' ? request.params.url : undefined
  const toAnsweredQuestion = (answer: RoundAnswer | Promise<RoundAnswer>): PreparedQuestion => {
    return { key, answer: Promise.resolve(answer), sentRequest: undefined }
  }
  const repeatedAction = url === undefined ? undefined : call.urlQuestions.answerRepeatedQuestion(url)
  if (repeatedAction !== undefined)
    return toAnsweredQuestion(repeatedAction.then((action) => ({ response: { action }, isClientInvolved: false })))
  const elicitationId = url === undefined ? '' : call.urlQuestions.getElicitationId(url)
  const question = toLegacyInputRequest(request, call.client.revision, elicitationId)
  if ('missingCapabilities' in question)
    return toAnsweredQuestion({ failure: { missingCapabilities: question.missingCapabilities } })
  const waitingQuestion = openWaitingQuestion(question.request.method, call, deps)
  if ('failure' in waitingQuestion)
    return toAnsweredQuestion(createFailedAnswer(request.method, waitingQuestion.failure))
  const answer = waitingQuestion.answer.then((givenAnswer) => {
    if (url !== undefined && 'response' in givenAnswer && givenAnswer.response['action'] === 'accept')
      call.urlQuestions.accept(url)
    return givenAnswer
  })
  return { key, answer, sentRequest: { request: question.request, pendingRequest: waitingQuestion.pendingRequest } }
}

type SentQuestion = NonNullable<PreparedQuestion['sentRequest']> & {
  readonly key: string
  readonly state: string | undefined
}

/**
 * Sends the questions of a round, with a `state` each where the client returns it: any one of them is enough to know
 * the round. Resolves with true when the store of a link has the call.
 */
async function sendQuestions(
  preparedQuestions: readonly PreparedQuestion[],
  call: InteractiveCall,
  deps: Deps,
): Promise<boolean> {
  const { channel } = call
  const waitingCall = createWaitingCall(preparedQuestions, call)
  const sentQuestions: SentQuestion[] = []
  for (const { key, sentRequest } of preparedQuestions) {
    if (sentRequest === undefined) continue
    const state = await sealState({ key, call: waitingCall }, sentRequest, { call, deps })
    sentRequest.pendingRequest.hasState = state !== undefined
    sentQuestions.push({ ...sentRequest, key, state })
  }
  const isStored = await storeWaitingCall(sentQuestions, waitingCall, channel)
  for (const { pendingRequest, request, state } of sentQuestions) {
    channel.ask({ jsonrpc: '2.0', id: pendingRequest.id, ...(state !== undefined && { state }), ...request })
  }
  if (isStored) channel.link?.onQuestionsSent()
  return isStored
}

function createWaitingCall(
  preparedQuestions: readonly PreparedQuestion[],
  { channel, urlQuestions, roundState, request }: InteractiveCall,
): WaitingCall {
  const { sessionStream } = channel
  const questions = new Map(
    preparedQuestions.map(({ key, sentRequest }) => [key, sentRequest?.request.method as InputRequest['method']]),
  )
  const streamPosition = { streamId: sessionStream?.streamId ?? '', eventCount: sessionStream?.countEvents() ?? 0 }
  return { request, ...roundState, ...streamPosition, questions, pages: urlQuestions.listAcceptedPages() }
}

/** Seals the `state` of a question; undefined for a client that gets none. */
async function sealState(
  openedState: OpenedState,
  { pendingRequest, request }: NonNullable<PreparedQuestion['sentRequest']>,
  { call, deps }: QuestionContext,
): Promise<string | undefined> {
  const session = call.channel.sessionStream?.session
  if (session === undefined || deps.questionStates?.belongsToSession(session) !== true) return undefined
  return deps.questionStates.seal(openedState, request.method, { session, questionId: pendingRequest.id })
}

/** Stores a call that waits, so that any instance takes its answers and can continue it. */
async function storeWaitingCall(
  sentQuestions: readonly SentQuestion[],
  waitingCall: WaitingCall,
  { link }: CallChannel,
): Promise<boolean> {
  if (link === undefined || sentQuestions.length === 0) return false
  const questions = sentQuestions.map(({ key, pendingRequest, request: { method, params } }, questionIndex) => {
    return { key, id: pendingRequest.id, method, params, number: waitingCall.eventCount + 1 + questionIndex }
  })
  const isStored = await link.store(waitingCall, questions)
  for (const { pendingRequest } of sentQuestions) pendingRequest.isStored = isStored
  return isStored
}

type WaitingQuestion =
  | { readonly pendingRequest: PendingServerRequest; readonly answer: Promise<RoundAnswer> }
  | { readonly failure: string }

function openWaitingQuestion(method: string, { channel }: InteractiveCall, deps: Deps): WaitingQuestion {
  const { signal, owner, link } = channel
  let resolveAnswer = (_: RoundAnswer): void => {}
  let rejectAnswer = (_: unknown): void => {}
  const answer = new Promise<RoundAnswer>((resolve, reject) => {
    resolveAnswer = resolve
    rejectAnswer = reject
  })
  const onAnswer = (response: RpcResponse): void => {
    stopWaiting()
    resolveAnswer(toRoundAnswer(method, response))
  }
  const pendingRequest =
    owner === undefined ? undefined : deps.questions.open(owner, onAnswer, link && createQuestionId(link.streamId))
  if (pendingRequest === undefined) return { failure: 'The client has too many open questions' }
  const withdrawQuestion = (reason: string): void => {
    stopWaiting()
    pendingRequest.close()
    if (pendingRequest.hasState) deps.questionStates?.withdraw(pendingRequest.id)
    channel.notifyOfQuestion(createCancelledMessage(pendingRequest.id, reason))
  }
  const cancelQuestion = (): void => {
    // A call that goes on at another instance still wants its answers.
    if (signal.reason instanceof CallHandedOffError) pendingRequest.close()
    else withdrawQuestion('The call was cancelled')
    stopWaiting()
    rejectAnswer(signal.reason)
  }
  const cancelTimer = deps.schedule(() => {
    withdrawQuestion('No answer came in time')
    const message = 'The client did not answer in time'
    // An answer with its state may have reached another instance, which then runs the call on: this one must not.
    resolveAnswer(
      pendingRequest.hasState && !pendingRequest.isStored
        ? { failure: { message } }
        : createFailedAnswer(method, message),
    )
  }, deps.settings.answerTimeoutMs)
  const stopWaiting = (): void => {
    cancelTimer()
    offAbort(signal, cancelQuestion)
  }
  if (signal.aborted) cancelQuestion()
  else onAbort(signal, cancelQuestion)
  return { pendingRequest, answer }
}

/** Returns the answer in a response: an error to a form or a URL means that the user cancelled. */
export function toRoundAnswer(method: string, response: RpcResponse): RoundAnswer {
  if ('result' in response) return { response: response.result, isClientInvolved: true }
  return createFailedAnswer(method, `The client answered ${method} with an error: ${response.error.message}`)
}

/**
 * Returns the answer of a user who cannot be reached, who has cancelled; a model or a list of roots has no such answer.
 */
export function createFailedAnswer(method: string, message: string): RoundAnswer {
  if (method === 'elicitation/create') return { response: { action: 'cancel' }, isClientInvolved: true }
  return { failure: { message } }
}

function createCancelledMessage(requestId: string | number, reason: string): RpcNotification {
  return { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId, reason } }
}

/** The pages that one call has sent its user to (client/elicitation, URL mode). */
export interface UrlQuestions {
  /** The `elicitationId` of a URL: one in a call. */
  getElicitationId(url: string): string
  /** Notes that the user agreed to go there. */
  accept(url: string): void
  /**
   * The answer to a URL that is asked for again because the server is still waiting: the user is not bothered, and the
   * server looks again after a while. Undefined for a URL that the user has not agreed to.
   */
  answerRepeatedQuestion(url: string): Promise<'accept' | 'cancel'> | undefined
  /** Lists the pages that the user agreed to, for the state of a question. */
  listAcceptedPages(): readonly AcceptedPage[]
  /** Tells the client of pages that are not asked for any more (elicitation/complete). */
  notifyCompletedUrls(inputRequests: JsonObject | undefined): void
}

interface UrlPage {
  readonly elicitationId: string
  acceptedAt: number | undefined
  pollCount: number
}

const minPollIntervalMs = 1000
const maxPollIntervalMs = 5000

/** Starts with the pages that the user of a resumed call has agreed to. */
export function createUrlQuestions(
  channel: CallChannel,
  deps: Deps,
  acceptedPages: readonly AcceptedPage[] = [],
): UrlQuestions {
  const pages = new Map<string, UrlPage>(acceptedPages.map(({ url, ...page }) => [url, { ...page, pollCount: 0 }]))
  const getOrCreatePage = (url: string): UrlPage => {
    const page = pages.get(url) ?? { elicitationId: randomId(), acceptedAt: undefined, pollCount: 0 }
    pages.set(url, page)
    return page
  }
  return {
    getElicitationId: (url) => getOrCreatePage(url).elicitationId,
    accept(url) {
      getOrCreatePage(url).acceptedAt = deps.now()
    },
    answerRepeatedQuestion(url) {
      const page = pages.get(url)
      if (page?.acceptedAt === undefined) return undefined
      if (deps.now() - page.acceptedAt >= deps.settings.answerTimeoutMs) return Promise.resolve('cancel')
      page.pollCount += 1
      return deps
        .sleep(Math.min(maxPollIntervalMs, minPollIntervalMs * page.pollCount), channel.signal)
        .then(() => 'accept')
    },
    listAcceptedPages: () =>
      [...pages].flatMap(([url, { elicitationId, acceptedAt }]) =>
        acceptedAt === undefined ? [] : [{ url, elicitationId, acceptedAt }],
      ),
    notifyCompletedUrls(inputRequests) {
      const wantedUrls = inputRequests === undefined ? new Set<string>() : collectUrls(inputRequests)
      for (const [url, { elicitationId, acceptedAt }] of pages) {
        if (acceptedAt === undefined || wantedUrls.has(url)) continue
        pages.delete(url)
        const method = 'notifications/elicitation/complete'
        channel.notify({ jsonrpc: '2.0', method, params: { elicitationId } })
      }
    },
  }
}

function collectUrls(requests: JsonObject): Set<string> {
  const urls = Object.values(requests).flatMap((request) => {
    const params = isJsonObject(request) ? request['params'] : undefined
    return isJsonObject(params) && typeof params['url'] === 'string' ? [params['url']] : []
  })
  return new Set(urls)
}
