import { offAbort, onAbort } from '@x/core'
import {
  type CallContext,
  contextKey,
  createCall,
  errorCodes,
  errorResponse,
  isJsonObject,
  type JsonObject,
  McpError,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
  withContext,
} from '@x/schema'
import { createFailedToolResult, toLegacyFailure, createCapabilityFailure } from '../translate/error.ts'
import { toModernRequest, omitReservedMeta } from '../translate/request.ts'
import { toLegacyResult } from '../translate/result.ts'
import { askClient, createUrlQuestions, type RoundAnswer, toRoundOutcome, type UrlQuestions } from './ask-client.ts'
import type { CallChannel, LegacyCall } from './call-channel.ts'
import type { Deps } from './deps.ts'
import type { WaitingCall } from './question-state.ts'

/** The connection of an older client, as a handler sees it. */
export interface LegacyPeer {
  /** The revision that the client speaks. */
  readonly revision: string
}

/** The older client that calls; absent for a client of 2026-07-28. */
const legacyPeerKey = contextKey<LegacyPeer>('x/legacy-peer')

/**
 * Returns the revision that the client of this call speaks; undefined for a client of 2026-07-28. Handlers need it for
 * display and logs alone: everything else works the same for both.
 *
 * @example
 * run: (_, ctx) => legacyPeerOf(ctx)?.revision ?? 'this revision'
 */
export function legacyPeerOf({ context }: { readonly context: CallContext }): LegacyPeer | undefined {
  return context.get(legacyPeerKey)
}

/** A call that goes on from the `state` of its questions, and their answers. */
export interface ResumedCall {
  readonly waitingCall: WaitingCall
  readonly answers: ReadonlyMap<string, RoundAnswer>
}

/**
 * Runs a call of an older client: the request goes through the server's exchange; whatever it asks for is asked of the
 * client on the call's own stream; the answers go into the next request, as a client of 2026-07-28 would send them.
 * Rejects with the signal's reason when the call is cancelled.
 */
export async function runLegacyCall(call: LegacyCall, deps: Deps, resumedCall?: ResumedCall): Promise<RpcResponse> {
  const initialRequest = createFirstRequest(call, resumedCall)
  if ('failure' in initialRequest) return createFailureResponse(call, initialRequest.failure)
  const notify = createNotificationFilter(call.channel)
  // The answers that brought a call back are a round of their own.
  const roundCount = resumedCall === undefined ? 0 : resumedCall.waitingCall.roundCount + 1
  const urlQuestions = createUrlQuestions(call.channel, deps, resumedCall?.waitingCall.pages)
  try {
    return await runRounds(
      initialRequest,
      { call, notificationFilter: notify, urlQuestionTracker: urlQuestions, roundCount },
      deps,
    )
  } finally {
    notify.end()
  }
}

interface RoundLoopState extends ExchangeContext {
  readonly urlQuestionTracker: UrlQuestions
  /** The rounds before this run. */
  readonly roundCount: number
}

async function runRounds(initialRequest: RpcRequest, loopState: RoundLoopState, deps: Deps): Promise<RpcResponse> {
  const { call, urlQuestionTracker: urlQuestions } = loopState
  let { roundCount } = loopState
  let request = initialRequest
  let retryCount = 0
  for (;;) {
    const response = await sendToExchange(request, loopState, deps)
    const inputRequests = inputRequestsIn(response)
    urlQuestions.notifyCompletedUrls(inputRequests)
    if (inputRequests === undefined || 'error' in response) return toLegacyResponse(call, response)
    if (Object.keys(inputRequests).length === 0)
      await deps.sleep(computeRetryDelayMs(retryCount++), call.channel.signal)
    else retryCount = 0
    const roundState = { requestState: response.result['requestState'], roundCount }
    const outcome = await askClient(inputRequests, { ...call, urlQuestions, roundState }, deps)
    if ('failure' in outcome) return createFailureResponse(call, outcome.failure)
    if (outcome.isClientInvolved) roundCount += 1
    if (roundCount > deps.settings.maxRounds || retryCount > maxRetries) return createTooManyRoundsResponse(call)
    request = addAnswers(request, response.result, outcome.answers)
  }
}

/** The request of the first run here, which has the answers of a call that was resumed. */
function createFirstRequest(
  call: LegacyCall,
  resumedCall: ResumedCall | undefined,
): RpcRequest | { readonly failure: CallFailure } {
  const request = toModernRequest(call.request, call.client, call.level)
  if (resumedCall === undefined) return request
  const outcome = toRoundOutcome(resumedCall.answers)
  if ('failure' in outcome) return outcome
  return addAnswers(request, { requestState: resumedCall.waitingCall.requestState }, outcome.answers)
}

const maxRetries = 1000

/** Returns what a result asks for, which may be nothing but the retry; undefined when it asks for neither. */
function inputRequestsIn(response: RpcResponse): JsonObject | undefined {
  if (!('result' in response) || response.result['resultType'] !== 'input_required') return undefined
  const { inputRequests } = response.result
  return isJsonObject(inputRequests) ? inputRequests : {}
}

// A handler that asks for the retry alone is tried again at once, and slower when it does so again and again.
function computeRetryDelayMs(retryCount: number): number {
  return Math.min(250, 50 * retryCount)
}

function addAnswers(request: RpcRequest, { requestState }: JsonObject, answers: JsonObject): RpcRequest {
  const { inputResponses: _responses, requestState: _state, ...params } = request.params ?? {}
  return {
    ...request,
    params: {
      ...params,
      ...(Object.keys(answers).length > 0 && { inputResponses: answers }),
      ...(requestState !== undefined && { requestState }),
    },
  }
}

function toLegacyResponse({ request, client }: LegacyCall, response: RpcResponse): RpcResponse {
  const { id, method } = request
  if ('error' in response) return { jsonrpc: '2.0', id, ...toLegacyFailure(response.error, method) }
  const { resultType } = response.result
  if (resultType !== undefined && resultType !== 'complete') {
    const error = new McpError(errorCodes.internal, 'The result needs a client of revision 2026-07-28')
    return errorResponse(id, error)
  }
  return { jsonrpc: '2.0', id, result: toLegacyResult(response.result, method, client.revision) }
}

type CallFailure = { readonly missingCapabilities: JsonObject } | { readonly message: string }

function createFailureResponse({ request }: LegacyCall, failure: CallFailure): RpcResponse {
  const { id, method } = request
  if ('missingCapabilities' in failure)
    return { jsonrpc: '2.0', id, ...createCapabilityFailure(failure.missingCapabilities, method) }
  if (method === 'tools/call') return { jsonrpc: '2.0', id, result: createFailedToolResult(failure.message) }
  return errorResponse(id, new McpError(errorCodes.internal, failure.message))
}

function createTooManyRoundsResponse(call: LegacyCall): RpcResponse {
  return createFailureResponse(call, { message: 'The call asked its client more often than is allowed' })
}

interface ExchangeContext {
  readonly call: LegacyCall
  readonly notificationFilter: NotificationFilter
}

/** One run of the handler. A run that takes too long is told to stop, and answered with an error whatever it does. */
async function sendToExchange(
  request: RpcRequest,
  { call, notificationFilter }: ExchangeContext,
  deps: Deps,
): Promise<RpcResponse> {
  const { channel, client } = call
  channel.signal.throwIfAborted()
  const controller = new AbortController()
  let cancelExchange = (): void => {}
  let cancelTimer = (): void => {}
  const endPromise = new Promise<never>((_, reject) => {
    cancelExchange = () => {
      controller.abort(channel.signal.reason)
      reject(channel.signal.reason)
    }
    if (channel.timeoutMs === Number.POSITIVE_INFINITY) return
    cancelTimer = deps.schedule(() => {
      const message = `The call took longer than ${channel.timeoutMs} ms`
      controller.abort(new DOMException(message, 'TimeoutError'))
      reject(new McpError(errorCodes.internal, message))
    }, channel.timeoutMs)
  })
  onAbort(channel.signal, cancelExchange)
  const { principal, context } = channel.caller
  const plainCall = createCall({ signal: controller.signal, principal, context, notify: notificationFilter.send })
  const callWithPeer = withContext(plainCall, legacyPeerKey, { revision: client.revision })
  try {
    const responsePromise = deps.exchange(request, callWithPeer)
    // A handler that is told to stop may fail afterwards; nobody waits for that any more.
    responsePromise.catch(() => {})
    return await Promise.race([responsePromise, endPromise])
  } catch (error) {
    channel.signal.throwIfAborted()
    if (!(error instanceof McpError)) deps.reportError(error)
    return errorResponse(request.id, error)
  } finally {
    offAbort(channel.signal, cancelExchange)
    cancelTimer()
    endPromise.catch(() => {})
  }
}

interface NotificationFilter {
  readonly send: (message: RpcNotification) => void
  readonly end: () => void
}

/**
 * Passes on what older clients know. A handler that runs again reports its progress from the beginning; the client is
 * told of what exceeds the last value (basic/utilities/progress), and of nothing after the response.
 */
function createNotificationFilter(channel: CallChannel): NotificationFilter {
  let lastProgress = Number.NEGATIVE_INFINITY
  let isFilterOpen = true
  const isForwardable = ({ method, params }: RpcNotification): boolean => {
    if (method === 'notifications/message') return true
    const progress = params?.['progress']
    if (method !== 'notifications/progress' || typeof progress !== 'number' || progress <= lastProgress) return false
    lastProgress = progress
    return true
  }
  return {
    send: (message) => {
      if (isFilterOpen && isForwardable(message)) channel.notify(toPlainNotification(message))
    },
    end: () => {
      isFilterOpen = false
    },
  }
}

/** A notification without the `_meta` keys of this revision. */
export function toPlainNotification({ method, params }: RpcNotification): RpcNotification {
  if (params === undefined) return { jsonrpc: '2.0', method }
  const { _meta, ...rest } = params
  const meta = omitReservedMeta(_meta)
  const plainParams = Object.keys(meta).length === 0 ? rest : { ...rest, _meta: meta }
  return Object.keys(plainParams).length === 0
    ? { jsonrpc: '2.0', method }
    : { jsonrpc: '2.0', method, params: plainParams }
}
