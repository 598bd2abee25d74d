import { type Clock, unref, isCancelled, onCancel, offCancel } from '@x/core'
import type { Call } from '@x/exchange'
import {
  type ClientCapabilities,
  errorCodes,
  type InputRequest,
  isJsonObject,
  type JsonObject,
  metaKeys,
  findMethodRow,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
  type WireError,
} from '@x/schema'
import { type CallingClient, callingClientKey } from '@x/exchange/internal'
import { metaIn, severityOf } from '@x/schema/internal'
import { isExtensionNotification } from '../../translate/request.ts'
import type { LegacySettings } from '../options.ts'
import { declaredCapabilitiesOf } from './capabilities.ts'
import { createStatefulResponse, parseQuestion } from './question.ts'
import type { LegacyRunningCall, LegacySession } from './session.ts'
import { toLegacyRequest, toModernResponse, toServerName } from './translate.ts'
import { parseRequiredUrls, watchUrlCompletion } from './url-required.ts'

export interface CallRunOptions {
  readonly session: LegacySession
  readonly settings: LegacySettings
  readonly clock: Clock
  /** The client's next request names this call with it. */
  readonly requestState: string
  /** Called when the call has ended, and its client has received the outcome or does not wait for it. */
  readonly onFinished: () => void
}

type CallRunOutcome = { readonly response: RpcResponse } | { readonly error: unknown }

interface OpenQuestion {
  readonly input: InputRequest
  readonly answer: (answer: { readonly result: JsonObject } | { readonly error: WireError } | undefined) => void
  isSent: boolean
}

const maxQuestions = 100

/**
 * One call to an older server, spread over several requests of 2026-07-28: the first one sends it, and each further one
 * brings the answers to a round of questions.
 */
export class CallRun implements LegacyRunningCall {
  readonly #options: CallRunOptions
  readonly #controller = new AbortController()
  readonly #questions = new Map<string, OpenQuestion>()
  #waitingRequest:
    | {
        readonly request: RpcRequest
        readonly call: Call
        readonly resolve: (response: RpcResponse) => void
        readonly reject: (error: unknown) => void
        /** Listens to the call's signal. */
        readonly cancel: (reason: unknown) => void
      }
    | undefined
  #outcome: CallRunOutcome | undefined
  #firstRequest: RpcRequest | undefined
  #legacyRequestId = 0
  #lastKeyNumber = 0
  #answerTimer: unknown
  #isRoundDue = false
  #client: CallingClient | undefined
  /**
   * Progress that arrived while no request waited; the next one receives it. It only increases, so the latest value is
   * enough (basic/utilities/progress).
   */
  #unsentProgress: JsonObject | undefined
  #stopWatchingClient = (): void => {}

  constructor(options: CallRunOptions) {
    this.#options = options
  }

  /**
   * Sends the request's answers to the server. Resolves with the next `input_required` result, or with the response to
   * the call.
   */
  sendNextRequest(request: RpcRequest, call: Call): Promise<RpcResponse> {
    return new Promise((resolve, reject) => {
      if (isCancelled(call)) return reject(call.signal.reason)
      if (this.#waitingRequest !== undefined) {
        const message = 'The call waits for no answers: its previous request has no response yet'
        return resolve(createStatefulResponse(request, { error: { code: errorCodes.invalidParams, message } }))
      }
      this.#options.clock.clearTimeout(this.#answerTimer)
      this.#stopWatchingClient()
      this.#client = call.context.get(callingClientKey)
      const cancel = (reason: unknown): void => this.#cancel(reason)
      this.#waitingRequest = { request, call, resolve, reject, cancel }
      onCancel(call, cancel)
      this.#sendUnsentProgress()
      this.#acceptAnswers(request)
      if (this.#firstRequest === undefined) {
        this.#firstRequest = request
        void this.#send(request)
      }
      this.#resolveWaitingRequest()
    })
  }

  /**
   * Asks this call's client a question of the server. Resolves with the answer for the server, or with undefined if
   * none is needed.
   */
  ask(request: RpcRequest): Promise<RpcResponse | undefined> {
    const parsedQuestion = this.#parseQuestion(request)
    if ('error' in parsedQuestion) return Promise.resolve(createStatefulResponse(request, parsedQuestion))
    return new Promise((resolve) => {
      const answer: OpenQuestion['answer'] = (questionAnswer) => {
        resolve(questionAnswer === undefined ? undefined : createStatefulResponse(request, questionAnswer))
      }
      this.#questions.set(this.#nextKey(), { input: parsedQuestion.question, answer, isSent: false })
      this.#scheduleRound()
    })
  }

  #parseQuestion(request: RpcRequest): ReturnType<typeof parseQuestion> {
    if (this.#questions.size >= maxQuestions) {
      return { error: { code: errorCodes.internal, message: `More than ${maxQuestions} questions are open` } }
    }
    if (this.#outcome !== undefined)
      return { error: { code: errorCodes.invalidRequest, message: 'The call has ended' } }
    return parseQuestion(request, this.#getDeclaredCapabilities())
  }

  #getDeclaredCapabilities(): ClientCapabilities {
    return this.#firstRequest === undefined ? {} : declaredCapabilitiesOf(this.#firstRequest)
  }

  #nextKey(): string {
    this.#lastKeyNumber += 1
    return `question-${this.#lastKeyNumber}`
  }

  // What the server asks within one turn of the event loop becomes one round.
  #scheduleRound(): void {
    if (this.#isRoundDue) return
    this.#isRoundDue = true
    const { clock } = this.#options
    clock.setTimeout(() => {
      this.#isRoundDue = false
      this.#resolveWaitingRequest()
    }, 0)
  }

  async #send(request: RpcRequest): Promise<void> {
    const { session } = this.#options
    session.activeCalls.add(this)
    try {
      this.#legacyRequestId = session.nextId()
      const handlers = {
        onNotification: (message: RpcNotification) => this.receive(message),
        onRequest: (askedRequest: RpcRequest) =>
          askedRequest.method === 'ping' ? session.standaloneHandlers.onRequest(askedRequest) : this.ask(askedRequest),
      }
      const legacyRequest = toLegacyRequest(request, this.#legacyRequestId)
      const response = await session.port.send(legacyRequest, this.#controller.signal, handlers)
      if (!this.#askForUrls(request, response)) this.#end({ response })
    } catch (error) {
      this.#end({ error })
    } finally {
      session.activeCalls.delete(this)
    }
  }

  /**
   * Asks the client to open the URLs that an error response requires, in a round of its own, and then sends the request
   * again (client/elicitation, URL elicitation required). False if the response requires no URLs.
   */
  #askForUrls(request: RpcRequest, response: RpcResponse): boolean {
    const requiredUrls = parseRequiredUrls(response, this.#getDeclaredCapabilities())
    if (requiredUrls.length === 0) return false
    const { session, clock } = this.#options
    const waitForCompletion = watchUrlCompletion(session, requiredUrls, clock)
    let isRejected = false
    let openQuestionCount = requiredUrls.length
    for (const { input } of requiredUrls) {
      const answer: OpenQuestion['answer'] = (questionAnswer) => {
        isRejected ||=
          questionAnswer === undefined || 'error' in questionAnswer || questionAnswer.result['action'] !== 'accept'
        openQuestionCount -= 1
        if (openQuestionCount > 0) return
        const completionPromise = waitForCompletion()
        if (isRejected) this.#end({ response })
        else void completionPromise.then(() => (this.#outcome === undefined ? this.#send(request) : undefined))
      }
      this.#questions.set(this.#nextKey(), { input, answer, isSent: false })
    }
    this.#scheduleRound()
    return true
  }

  get user(): string {
    return this.#options.session.user
  }

  get client(): CallingClient | undefined {
    return this.#client
  }

  get canBeAsked(): boolean {
    return findMethodRow(this.#firstRequest?.method ?? '')?.canRequireInput === true
  }

  get wantsLogs(): boolean {
    return severityOf(metaIn(this.#waitingRequest?.request.params)[metaKeys.logLevel]) !== -1
  }

  receive(message: RpcNotification): void {
    const { method, params = {} } = message
    if (method === 'notifications/progress') this.#notifyProgress(params)
    else if (method === 'notifications/message') this.#notifyLog(message)
    else if (isExtensionNotification(method)) this.#notify(message)
    else this.#options.session.standaloneHandlers.onNotification(message)
  }

  #notifyProgress(params: JsonObject): void {
    if (params['progressToken'] !== this.#legacyRequestId) return
    if (this.#waitingRequest === undefined) {
      this.#unsentProgress = params
      return
    }
    const { progressToken } = metaIn(this.#waitingRequest.request.params)
    if (progressToken === undefined) return
    this.#notify({ jsonrpc: '2.0', method: 'notifications/progress', params: { ...params, progressToken } })
  }

  #sendUnsentProgress(): void {
    const params = this.#unsentProgress
    this.#unsentProgress = undefined
    if (params !== undefined) this.#notifyProgress(params)
  }

  #notifyLog(message: RpcNotification): void {
    const wantedSeverity = severityOf(metaIn(this.#waitingRequest?.request.params)[metaKeys.logLevel])
    if (wantedSeverity !== -1 && severityOf(message.params?.['level']) >= wantedSeverity) this.#notify(message)
  }

  #notify(message: RpcNotification): void {
    try {
      this.#waitingRequest?.call.notify(message)
    } catch (error) {
      this.#cancel(error)
    }
  }

  #acceptAnswers({ params }: RpcRequest): void {
    const givenResponses = params?.['inputResponses']
    const responses = isJsonObject(givenResponses) ? givenResponses : {}
    for (const [key, question] of this.#questions) {
      if (!question.isSent) continue
      const result = Object.hasOwn(responses, key) ? responses[key] : undefined
      if (isJsonObject(result)) {
        this.#questions.delete(key)
        question.answer({ result })
      } else question.isSent = false
    }
  }

  #resolveWaitingRequest(): void {
    const waitingRequest = this.#waitingRequest
    if (waitingRequest === undefined) return
    if (this.#outcome !== undefined) {
      const outcome = this.#outcome
      this.#detach(waitingRequest)
      this.#options.onFinished()
      if ('error' in outcome) waitingRequest.reject(outcome.error)
      else waitingRequest.resolve(toModernResponse(outcome.response, waitingRequest.request, this.#options))
      return
    }
    const newQuestions = [...this.#questions].filter(([, { isSent }]) => !isSent)
    if (newQuestions.length === 0) return
    for (const [, question] of newQuestions) question.isSent = true
    const inputRequests = Object.fromEntries(newQuestions.map(([key, { input }]) => [key, input]))
    this.#detach(waitingRequest)
    const { settings, clock, requestState, session } = this.#options
    this.#answerTimer = clock.setTimeout(
      () => this.#giveUp(new Error('The questions of the call were not answered in time')),
      settings.answerTimeoutMs,
    )
    unref(this.#answerTimer)
    const giveUp = (reason: unknown): void => this.#giveUp(reason)
    this.#stopWatchingClient = this.#client?.onRoundAbandoned(requestState, giveUp) ?? (() => {})
    const { info } = session.peer
    const _meta = info === undefined ? {} : { _meta: { [metaKeys.serverInfo]: toServerName(info) } }
    // Input requests are JSON, but their readonly types are not assignable to `JsonObject`.
    const inputRequiredFields = { inputRequests: inputRequests as unknown as JsonObject, requestState, ..._meta }
    waitingRequest.resolve({
      jsonrpc: '2.0',
      id: waitingRequest.request.id,
      result: { resultType: 'input_required', ...inputRequiredFields },
    })
  }

  #detach({ call, cancel }: { readonly call: Call; readonly cancel: (reason: unknown) => void }): void {
    offCancel(call, cancel)
    this.#waitingRequest = undefined
  }

  /** Cancels a call whose client does not answer, and notifies the server at once. */
  #giveUp(reason: unknown): void {
    const { clock, onFinished } = this.#options
    clock.clearTimeout(this.#answerTimer)
    this.#stopWatchingClient()
    this.#cancel(reason)
    onFinished()
  }

  #cancel(reason: unknown): void {
    this.#controller.abort(reason)
    this.#end({ error: reason })
  }

  #end(outcome: CallRunOutcome): void {
    this.#outcome ??= outcome
    const openQuestions = [...this.#questions.values()]
    this.#questions.clear()
    const error = { code: errorCodes.internal, message: 'The question was not answered' }
    for (const question of openQuestions) question.answer('response' in outcome ? undefined : { error })
    this.#resolveWaitingRequest()
  }
}
