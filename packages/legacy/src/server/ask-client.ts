import {
  type InputRequest,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  offAbort,
  onAbort,
  type RpcNotification,
  type RpcRequestFields,
  type RpcResponse,
} from '@x/schema'
import { legacyQuestion } from '../translate/question.ts'
import { type CallChannel, CallMoved, type LegacyCall } from './call-channel.ts'
import type { Deps } from './deps.ts'
import type { AcceptedPage, OpenedState, WaitingCall } from './question-state.ts'
import { type PendingServerRequest, questionIdOf } from './questions.ts'
import { randomId } from './random-id.ts'

/** The answers of one round by their keys, or why the call cannot go on. */
export type RoundOutcome =
  | { readonly answers: JsonObject; readonly involved: boolean }
  | { readonly failure: { readonly missing: JsonObject } | { readonly message: string } }

/** The answer to one question, or why its call cannot go on. */
export type RoundAnswer =
  | { readonly response: JsonObject; readonly involved: boolean }
  | Extract<RoundOutcome, { readonly failure: unknown }>

/** A call that asks, with the pages that its user was sent to. */
export interface AskingCall extends LegacyCall {
  readonly urls: UrlQuestions
  /** The part of its state that comes from earlier rounds. */
  readonly progress: { readonly requestState: JsonValue | undefined; readonly rounds: number }
}

/** One question of a round. */
interface AskedRound {
  readonly key: string
  readonly answer: Promise<RoundAnswer>
  /** The request that is sent to the client; undefined for a question that needs none. */
  readonly sent: { readonly request: RpcRequestFields; readonly open: PendingServerRequest } | undefined
}

/** Asks the client for everything that one round wants, all at once. */
export async function askClient(requests: JsonObject, call: AskingCall, deps: Deps): Promise<RoundOutcome> {
  const entries = Object.entries(requests)
  if (entries.length === 0) return { answers: {}, involved: true }
  // The exchange checks its requests before it answers with them.
  const asked = entries.map(([key, request]) =>
    prepareQuestions(key, request as unknown as InputRequest, { call, deps }),
  )
  const answers = Promise.all(asked.map(async ({ key, answer }) => [key, await answer] as const))
  // A round that failed before it was asked is not asked.
  answers.catch(() => {})
  const isStored = await send(asked, call, deps)
  const outcome = roundOutcome(new Map(await answers))
  if (isStored && (await call.channel.link?.claim()) === false) throw new CallMoved()
  if (asked.some(({ sent }) => sent?.open.hasState)) call.channel.onAnswered()
  return outcome
}

/** Joins the answers of a round; one that failed is the failure of all. */
export function roundOutcome(answers: ReadonlyMap<string, RoundAnswer>): RoundOutcome {
  const responses: Record<string, JsonObject> = {}
  let involved = false
  for (const [key, answer] of answers) {
    if ('failure' in answer) return answer
    responses[key] = answer.response
    involved ||= answer.involved
  }
  return { answers: responses, involved }
}

interface RoundRequest {
  readonly call: AskingCall
  readonly deps: Deps
}

function prepareQuestions(key: string, request: InputRequest, { call, deps }: RoundRequest): AskedRound {
  const url = request.method === 'elicitation/create' && request.params.mode === 'url' ? request.params.url : undefined
  const finished = (answer: RoundAnswer | Promise<RoundAnswer>): AskedRound => {
    return { key, answer: Promise.resolve(answer), sent: undefined }
  }
  const again = url === undefined ? undefined : call.urls.again(url)
  if (again !== undefined) return finished(again.then((action) => ({ response: { action }, involved: false })))
  const elicitationId = url === undefined ? '' : call.urls.idOf(url)
  const question = legacyQuestion(request, call.client.revision, elicitationId)
  if ('missing' in question) return finished({ failure: { missing: question.missing } })
  const waiting = waitForAnswer(question.request.method, call, deps)
  if ('failure' in waiting) return finished(unanswered(request.method, waiting.failure))
  const answer = waiting.answer.then((given) => {
    if (url !== undefined && 'response' in given && given.response['action'] === 'accept') call.urls.accept(url)
    return given
  })
  return { key, answer, sent: { request: question.request, open: waiting.open } }
}

type SentQuestion = NonNullable<AskedRound['sent']> & { readonly key: string; readonly state: string | undefined }

/**
 * Sends the questions of a round, with a `state` each where the client returns it: any one of them is enough to know the round. Resolves
 * with true when the store of a link has the call.
 */
async function send(asked: readonly AskedRound[], call: AskingCall, deps: Deps): Promise<boolean> {
  const { channel } = call
  const waiting = waitingCallOf(asked, call)
  const prepared: SentQuestion[] = []
  for (const { key, sent } of asked) {
    if (sent === undefined) continue
    const state = await sealState({ key, call: waiting }, sent, { call, deps })
    sent.open.hasState = state !== undefined
    prepared.push({ ...sent, key, state })
  }
  const isStored = await store(prepared, waiting, channel)
  for (const { open, request, state } of prepared) {
    channel.ask({ jsonrpc: '2.0', id: open.id, ...(state !== undefined && { state }), ...request })
  }
  if (isStored) channel.link?.onAsked()
  return isStored
}

function waitingCallOf(asked: readonly AskedRound[], { channel, urls, progress, request }: AskingCall): WaitingCall {
  const { origin } = channel
  const questions = new Map(asked.map(({ key, sent }) => [key, sent?.request.method as InputRequest['method']]))
  const place = { stream: origin?.stream ?? '', events: origin?.events() ?? 0 }
  return { request, ...progress, ...place, questions, pages: urls.accepted() }
}

/** Seals the `state` of a question; undefined for a client that gets none. */
async function sealState(
  opened: OpenedState,
  { open, request }: NonNullable<AskedRound['sent']>,
  { call, deps }: RoundRequest,
): Promise<string | undefined> {
  const session = call.channel.origin?.session
  if (session === undefined || deps.states?.isFor(session) !== true) return undefined
  return deps.states.seal(opened, request.method, { session, questionId: open.id })
}

/** Stores a call that waits, so that any instance takes its answers and can continue it. */
async function store(asked: readonly SentQuestion[], waiting: WaitingCall, { link }: CallChannel): Promise<boolean> {
  if (link === undefined || asked.length === 0) return false
  const questions = asked.map(({ key, open, request: { method, params } }, place) => {
    return { key, id: open.id, method, params, number: waiting.events + 1 + place }
  })
  const isStored = await link.store(waiting, questions)
  for (const { open } of asked) open.isStored = isStored
  return isStored
}

type WaitingQuestion =
  | { readonly open: PendingServerRequest; readonly answer: Promise<RoundAnswer> }
  | { readonly failure: string }

function waitForAnswer(method: string, { channel }: AskingCall, deps: Deps): WaitingQuestion {
  const { signal, owner, link } = channel
  let finish = (_: RoundAnswer): void => {}
  let fail = (_: unknown): void => {}
  const answer = new Promise<RoundAnswer>((resolve, reject) => {
    finish = resolve
    fail = reject
  })
  const onAnswer = (response: RpcResponse): void => {
    release()
    finish(toAnswer(method, response))
  }
  const open = owner === undefined ? undefined : deps.questions.open(owner, onAnswer, link && questionIdOf(link.stream))
  if (open === undefined) return { failure: 'The client has too many open questions' }
  const withdraw = (reason: string): void => {
    release()
    open.close()
    if (open.hasState) deps.states?.withdraw(open.id)
    channel.notifyOfQuestion(cancelled(open.id, reason))
  }
  const stop = (): void => {
    // A call that goes on at another instance still wants its answers.
    if (signal.reason instanceof CallMoved) open.close()
    else withdraw('The call was cancelled')
    release()
    fail(signal.reason)
  }
  const cancelTimer = deps.schedule(() => {
    withdraw('No answer came in time')
    const message = 'The client did not answer in time'
    // An answer with its state may have reached another instance, which then runs the call on: this one must not.
    finish(open.hasState && !open.isStored ? { failure: { message } } : unanswered(method, message))
  }, deps.settings.answerTimeoutMs)
  const release = (): void => {
    cancelTimer()
    offAbort(signal, stop)
  }
  if (signal.aborted) stop()
  else onAbort(signal, stop)
  return { open, answer }
}

/** Returns the answer in a response: an error to a form or a URL means that the user cancelled. */
export function toAnswer(method: string, response: RpcResponse): RoundAnswer {
  if ('result' in response) return { response: response.result, involved: true }
  return unanswered(method, `The client answered ${method} with an error: ${response.error.message}`)
}

/** Returns the answer of a user who cannot be reached, who has cancelled; a model or a list of roots has no such answer. */
export function unanswered(method: string, message: string): RoundAnswer {
  if (method === 'elicitation/create') return { response: { action: 'cancel' }, involved: true }
  return { failure: { message } }
}

function cancelled(requestId: string | number, reason: string): RpcNotification {
  return { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId, reason } }
}

/** The pages that one call has sent its user to (client/elicitation, URL mode). */
export interface UrlQuestions {
  /** The `elicitationId` of a URL: one in a call. */
  idOf(url: string): string
  /** Notes that the user agreed to go there. */
  accept(url: string): void
  /**
   * The answer to a URL that is asked for again because the server is still waiting: the user is not bothered, and the server looks
   * again after a while. Undefined for a URL that the user has not agreed to.
   */
  again(url: string): Promise<'accept' | 'cancel'> | undefined
  /** Lists the pages that the user agreed to, for the state of a question. */
  accepted(): readonly AcceptedPage[]
  /** Tells the client of pages that are not asked for any more (elicitation/complete). */
  complete(asked: JsonObject | undefined): void
}

interface UrlPage {
  readonly elicitationId: string
  acceptedAt: number | undefined
  looks: number
}

const firstPollMs = 1000
const maxPollMs = 5000

/** Starts with the pages that the user of a resumed call has agreed to. */
export function createUrlQuestions(
  channel: CallChannel,
  deps: Deps,
  accepted: readonly AcceptedPage[] = [],
): UrlQuestions {
  const pages = new Map<string, UrlPage>(accepted.map(({ url, ...page }) => [url, { ...page, looks: 0 }]))
  const pageOf = (url: string): UrlPage => {
    const page = pages.get(url) ?? { elicitationId: randomId(), acceptedAt: undefined, looks: 0 }
    pages.set(url, page)
    return page
  }
  return {
    idOf: (url) => pageOf(url).elicitationId,
    accept(url) {
      pageOf(url).acceptedAt = deps.now()
    },
    again(url) {
      const page = pages.get(url)
      if (page?.acceptedAt === undefined) return undefined
      if (deps.now() - page.acceptedAt >= deps.settings.answerTimeoutMs) return Promise.resolve('cancel')
      page.looks += 1
      return deps.sleep(Math.min(maxPollMs, firstPollMs * page.looks), channel.signal).then(() => 'accept')
    },
    accepted: () =>
      [...pages].flatMap(([url, { elicitationId, acceptedAt }]) =>
        acceptedAt === undefined ? [] : [{ url, elicitationId, acceptedAt }],
      ),
    complete(asked) {
      const wanted = asked === undefined ? new Set<string>() : urlsIn(asked)
      for (const [url, { elicitationId, acceptedAt }] of pages) {
        if (acceptedAt === undefined || wanted.has(url)) continue
        pages.delete(url)
        const method = 'notifications/elicitation/complete'
        channel.notify({ jsonrpc: '2.0', method, params: { elicitationId } })
      }
    },
  }
}

function urlsIn(requests: JsonObject): Set<string> {
  const urls = Object.values(requests).flatMap((request) => {
    const params = isJsonObject(request) ? request['params'] : undefined
    return isJsonObject(params) && typeof params['url'] === 'string' ? [params['url']] : []
  })
  return new Set(urls)
}
