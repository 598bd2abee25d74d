import {
  cancelReason,
  type Call,
  type ClientCapabilities,
  type Clock,
  errorCodes,
  type InputRequest,
  isCancelled,
  isJsonObject,
  type JsonObject,
  metaKeys,
  methodRow,
  offCancel,
  onCancel,
  unref,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
  type WireError,
} from '@x/schema'
import { metaIn } from '../translate/request.ts'
import { declaredIn } from './handshake.ts'
import type { LegacySettings } from './options.ts'
import { answerTo, readQuestion } from './question.ts'
import { type LegacySession, type RunningCall, severityOf } from './session.ts'
import { legacyCallRequest, toModernResponse } from './translate.ts'
import { urlsRequiredBy, waitForUrls } from './url-required.ts'

/** One call of an older server, over as many requests of 2026-07-28 as its questions take. */
export interface CallRun {
  /** Sends answers to what was asked, and gives the next `input_required` result, or the response. */
  next(request: RpcRequest, call: Call): Promise<RpcResponse>
}

/** Dependencies of a run. */
export interface RunParts {
  readonly session: LegacySession
  readonly settings: LegacySettings
  readonly clock: Clock
  /** The `requestState` of its questions. */
  readonly token: string
  /** Called when nothing can be asked or answered any more. */
  readonly onOver: () => void
}

type QuestionAnswer = { readonly result: JsonObject } | { readonly error: WireError }
type Outcome = { readonly response: RpcResponse } | { readonly error: unknown }

/** A question that waits for an answer. */
interface Question {
  readonly input: InputRequest
  /** Gives the answer to the server; `undefined` for a question that it does not wait for any more. */
  readonly answer: (answer: QuestionAnswer | undefined) => void
  isSent: boolean
}

/** The request of 2026-07-28 that waits for what comes next. */
interface WaitingQuestion {
  readonly request: RpcRequest
  readonly call: Call
  readonly resolve: (response: RpcResponse) => void
  readonly reject: (error: unknown) => void
  readonly cancel: () => void
}

const maxQuestions = 100

/** Starts a call; `next` sends it. */
export function createRun(parts: RunParts): CallRun {
  return new Run(parts)
}

class Run implements CallRun, RunningCall {
  readonly #parts: RunParts
  readonly #controller = new AbortController()
  readonly #questions = new Map<string, Question>()
  #waiting: WaitingQuestion | undefined
  #outcome: Outcome | undefined
  #first: RpcRequest | undefined
  #wireId = 0
  #lastKey = 0
  #timer: unknown
  #isRoundDue = false

  constructor(parts: RunParts) {
    this.#parts = parts
  }

  next(request: RpcRequest, call: Call): Promise<RpcResponse> {
    return new Promise((resolve, reject) => {
      if (isCancelled(call)) return reject(cancelReason(call))
      if (this.#waiting !== undefined) {
        return resolve(
          answerTo(request, { error: { code: errorCodes.invalidParams, message: 'The call is under way' } }),
        )
      }
      this.#parts.clock.clearTimeout(this.#timer)
      const cancel = (): void => this.#cancel(cancelReason(call))
      this.#waiting = { request, call, resolve, reject, cancel }
      onCancel(call, cancel)
      this.#answer(request)
      if (this.#first === undefined) {
        this.#first = request
        void this.#send(request)
      }
      this.#deliver()
    })
  }

  /** A request of the server for this call. */
  ask(request: RpcRequest): Promise<RpcResponse | undefined> {
    const read = this.#read(request)
    if ('error' in read) return Promise.resolve(answerTo(request, read))
    return new Promise((resolve) => {
      const answer: Question['answer'] = (answered) => {
        resolve(answered === undefined ? undefined : answerTo(request, answered))
      }
      this.#questions.set(this.#nextKey(), { input: read.question, answer, isSent: false })
      this.#scheduleRound()
    })
  }

  #read(request: RpcRequest): ReturnType<typeof readQuestion> {
    if (this.#questions.size >= maxQuestions) {
      return { error: { code: errorCodes.internal, message: `More than ${maxQuestions} questions are open` } }
    }
    if (this.#outcome !== undefined)
      return { error: { code: errorCodes.invalidRequest, message: 'The call has ended' } }
    return readQuestion(request, this.#declared())
  }

  #declared(): ClientCapabilities {
    return this.#first === undefined ? {} : declaredIn(this.#first)
  }

  #nextKey(): string {
    this.#lastKey += 1
    return `question-${this.#lastKey}`
  }

  // Requests that arrive within one turn are one round.
  #scheduleRound(): void {
    if (this.#isRoundDue) return
    this.#isRoundDue = true
    const { clock } = this.#parts
    clock.setTimeout(() => {
      this.#isRoundDue = false
      this.#deliver()
    }, 0)
  }

  async #send(request: RpcRequest): Promise<void> {
    const { session } = this.#parts
    session.running.add(this)
    try {
      this.#wireId = session.nextId()
      const messages = {
        onNotification: (message: RpcNotification) => this.receive(message),
        onRequest: (asked: RpcRequest) =>
          asked.method === 'ping' ? session.outside.onRequest(asked) : this.ask(asked),
      }
      const sent = legacyCallRequest(request, this.#wireId)
      const response = await session.wire.request(sent, this.#controller.signal, messages)
      if (!this.#askForUrls(request, response)) this.#end({ response })
    } catch (error) {
      this.#end({ error })
    } finally {
      session.running.delete(this)
    }
  }

  /** client/elicitation, URL elicitation required: URLs are asked for as in any round, and then the request is sent again. */
  #askForUrls(request: RpcRequest, response: RpcResponse): boolean {
    const urls = urlsRequiredBy(response, this.#declared())
    if (urls.length === 0) return false
    const { session, clock } = this.#parts
    const completed = waitForUrls(session, urls, clock)
    let isRefused = false
    let open = urls.length
    for (const { input } of urls) {
      const answer: Question['answer'] = (answered) => {
        isRefused ||= answered === undefined || 'error' in answered || answered.result['action'] !== 'accept'
        open -= 1
        if (open > 0) return
        const done = completed()
        if (isRefused) this.#end({ response })
        else void done.then(() => (this.#outcome === undefined ? this.#send(request) : undefined))
      }
      this.#questions.set(this.#nextKey(), { input, answer, isSent: false })
    }
    this.#scheduleRound()
    return true
  }

  get asks(): boolean {
    return methodRow(this.#first?.method ?? '')?.asks === true
  }

  get wantsLogs(): boolean {
    return severityOf(metaIn(this.#waiting?.request.params)[metaKeys.logLevel]) !== -1
  }

  receive(message: RpcNotification): void {
    const { method, params = {} } = message
    if (method === 'notifications/progress') this.#progress(params)
    else if (method === 'notifications/message') this.#log(message)
    else this.#parts.session.outside.onNotification(message)
  }

  #progress(params: JsonObject): void {
    const token = metaIn(this.#waiting?.request.params)['progressToken']
    if (token === undefined || params['progressToken'] !== this.#wireId) return
    this.#notify({ jsonrpc: '2.0', method: 'notifications/progress', params: { ...params, progressToken: token } })
  }

  #log(message: RpcNotification): void {
    const wanted = severityOf(metaIn(this.#waiting?.request.params)[metaKeys.logLevel])
    if (wanted !== -1 && severityOf(message.params?.['level']) >= wanted) this.#notify(message)
  }

  #notify(message: RpcNotification): void {
    try {
      this.#waiting?.call.notify(message)
    } catch (error) {
      this.#cancel(error)
    }
  }

  #answer({ params }: RpcRequest): void {
    const given = params?.['inputResponses']
    const responses = isJsonObject(given) ? given : {}
    for (const [key, question] of this.#questions) {
      if (!question.isSent) continue
      const result = Object.hasOwn(responses, key) ? responses[key] : undefined
      if (isJsonObject(result)) {
        this.#questions.delete(key)
        question.answer({ result })
      } else question.isSent = false
    }
  }

  #deliver(): void {
    const waiting = this.#waiting
    if (waiting === undefined) return
    if (this.#outcome !== undefined) {
      const outcome = this.#outcome
      this.#detach(waiting)
      this.#parts.onOver()
      if ('error' in outcome) waiting.reject(outcome.error)
      else waiting.resolve(toModernResponse(outcome.response, waiting.request, this.#parts))
      return
    }
    const fresh = [...this.#questions].filter(([, { isSent }]) => !isSent)
    if (fresh.length === 0) return
    for (const [, question] of fresh) question.isSent = true
    const inputRequests = Object.fromEntries(fresh.map(([key, { input }]) => [key, input]))
    this.#detach(waiting)
    const { settings, clock, token, session } = this.#parts
    this.#timer = clock.setTimeout(() => this.#expire(), settings.answerTimeoutMs)
    unref(this.#timer)
    const _meta = session.peer.info === undefined ? {} : { _meta: { [metaKeys.serverInfo]: session.peer.info } }
    // Types of the protocol are JSON, which their readonly interfaces cannot say.
    const asked = { inputRequests: inputRequests as unknown as JsonObject, requestState: token, ..._meta }
    waiting.resolve({ jsonrpc: '2.0', id: waiting.request.id, result: { resultType: 'input_required', ...asked } })
  }

  #detach({ call, cancel }: WaitingQuestion): void {
    offCancel(call, cancel)
    this.#waiting = undefined
  }

  /** Nobody came back with answers. */
  #expire(): void {
    this.#cancel(new Error('The questions of the call were not answered in time'))
    this.#parts.onOver()
  }

  #cancel(reason: unknown): void {
    this.#controller.abort(reason)
    this.#end({ error: reason })
  }

  #end(outcome: Outcome): void {
    this.#outcome ??= outcome
    const open = [...this.#questions.values()]
    this.#questions.clear()
    const error = { code: errorCodes.internal, message: 'The question was not answered' }
    for (const question of open) question.answer('response' in outcome ? undefined : { error })
    this.#deliver()
  }
}
