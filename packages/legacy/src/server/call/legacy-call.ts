import { checkArgument, Cancellation, isCancelled, offCancel, onCancel, withSignalOf } from '@x/core'
import { type CallContext, olderRequestKey, withContext } from '@x/exchange'
import {
  errorCodes,
  errorResponse,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  McpError,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import {
  createCapabilityFailure,
  createFailedToolResult,
  createUnsupportedFailure,
  toLegacyFailure,
} from '../../translate/error.ts'
import { isExtensionNotification, toModernRequest, toPlainNotification } from '../../translate/request.ts'
import { toLegacyResult } from '../../translate/result.ts'
import { askClient, resumeRound } from './ask-client.ts'
import type { LegacyCall } from './call-channel.ts'
import type { CallDeps } from './call-deps.ts'
import { sendLaterRound, toBegunResponse } from './later-round.ts'
import { UrlPages } from './url-pages.ts'
import type { CallFailure, WaitingRound } from './waiting-round.ts'

/** A call's older client, as a handler sees it. */
export interface LegacyPeer {
  /** The protocol revision that the client speaks. */
  readonly revision: string
}

/**
 * Tells a handler which older revision the client of its call speaks; undefined for a client of 2026-07-28. You need it
 * only for display and logs, because everything else works the same for both.
 *
 * @example
 * run: (_, ctx) => legacyPeerOf(ctx)?.revision ?? 'this revision'
 */
export function legacyPeerOf(ctx: { readonly context: CallContext }): LegacyPeer | undefined {
  checkArgument(ctx, { where: 'legacyPeerOf', takes: 'the ctx of a handler', needs: ['context'] })
  const older = ctx.context.get(olderRequestKey)
  return older && { revision: older.revision }
}

/**
 * Runs an older client's call through the server's exchange. If a result requests input, its questions go to the client
 * on the call's stream, and their answers into the next request, as a client of 2026-07-28 sends them. With
 * `resumedRound`, the call continues with the answers to another instance's questions. Rejects with the signal's reason
 * if the call is cancelled, and with `LimitError` if too many calls of the caller wait.
 */
export async function runLegacyCall(
  call: LegacyCall,
  deps: CallDeps,
  resumedRound?: WaitingRound,
): Promise<RpcResponse> {
  const notificationFilter = createNotificationFilter(call)
  const urlPages = new UrlPages(call.channel, deps, resumedRound?.pages)
  try {
    return await runRounds({ call, notificationFilter, urlPages }, deps, resumedRound)
  } catch (error) {
    // Stores are used between two rounds, so the call has begun.
    const response = toBegunResponse(call.request.id, error, deps)
    if (response === undefined) throw error
    return response
  } finally {
    notificationFilter.end()
  }
}

interface RoundLoopContext {
  readonly call: LegacyCall
  readonly notificationFilter: ReturnType<typeof createNotificationFilter>
  readonly urlPages: UrlPages
}

async function runRounds(
  context: RoundLoopContext,
  deps: CallDeps,
  resumedRound: WaitingRound | undefined,
): Promise<RpcResponse> {
  const { call, urlPages } = context
  const firstRequest = toModernRequest(call.request, call.client, call.level)
  const initialRequest = resumedRound ? await createResumedRequest(resumedRound, context, deps) : firstRequest
  if ('failure' in initialRequest) return createFailureResponse(call, initialRequest.failure)
  let request = initialRequest
  let roundCount = countEarlierRounds(resumedRound)
  let retryCount = 0
  for (;;) {
    const response = await sendLegacyRound(request, request === firstRequest, context, deps)
    const inputRequests = inputRequestsIn(response)
    urlPages.notifyCompletedUrls(inputRequests)
    if (inputRequests === undefined || 'error' in response) return toLegacyResponse(call, response)
    // If a handler only requests a retry, it runs again at once. With each further retry in a row, the pause becomes
    // longer.
    if (Object.keys(inputRequests).length > 0) retryCount = 0
    else await deps.sleep(Math.min(250, 50 * retryCount++), call.channel.signal)
    const { requestState } = response.result
    const outcome = await askClient(
      inputRequests,
      { ...call, urlPages, roundState: { requestState, roundCount } },
      deps,
    )
    if ('failure' in outcome) return createFailureResponse(call, outcome.failure)
    if (outcome.isClientInvolved) roundCount += 1
    if (hasTooManyRounds(roundCount, retryCount))
      return createFailureResponse(call, { message: 'The call asked its client too often' })
    request = addAnswers(firstRequest, requestState, outcome.answers)
  }
}

/** How often one call may ask its client. A form with one question for each field has fewer rounds. */
// limit: rounds | count | rounds of one call with questions | the call fails
const maxRounds = 50
const maxRetries = 1000

function countEarlierRounds(resumedRound: WaitingRound | undefined): number {
  return resumedRound === undefined ? 0 : resumedRound.roundCount + 1
}

function hasTooManyRounds(roundCount: number, retryCount: number): boolean {
  return roundCount > maxRounds || retryCount > maxRetries
}

async function createResumedRequest(
  round: WaitingRound,
  { call, urlPages }: RoundLoopContext,
  deps: CallDeps,
): Promise<RpcRequest | { readonly failure: CallFailure }> {
  const outcome = await resumeRound(round, { ...call, urlPages, roundState: round }, deps)
  if ('failure' in outcome) return outcome
  return addAnswers(toModernRequest(call.request, call.client, call.level), round.requestState, outcome.answers)
}

/** The questions of a result: empty if it only requests a retry, undefined if it requests no input. */
function inputRequestsIn(response: RpcResponse): JsonObject | undefined {
  if (!('result' in response) || response.result['resultType'] !== 'input_required') return undefined
  const { inputRequests } = response.result
  return isJsonObject(inputRequests) ? inputRequests : {}
}

function addAnswers(
  { params, ...request }: RpcRequest,
  requestState: JsonValue | undefined,
  answers: JsonObject,
): RpcRequest {
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
  // A client that declares extensions may know a result type of one. Tasks are never among them.
  const isKnown = resultType !== 'task' && client.capabilities.extensions !== undefined
  if (resultType !== undefined && resultType !== 'complete' && !isKnown) {
    const error = new McpError(errorCodes.internal, 'The result needs a client of revision 2026-07-28')
    return errorResponse(id, error)
  }
  return { jsonrpc: '2.0', id, result: toLegacyResult(response.result, method, client.revision) }
}

function createFailureResponse({ request }: LegacyCall, failure: CallFailure): RpcResponse {
  const { id, method } = request
  if ('missingCapabilities' in failure)
    return { jsonrpc: '2.0', id, ...createCapabilityFailure(failure.missingCapabilities, method) }
  if ('unsupported' in failure) return { jsonrpc: '2.0', id, ...createUnsupportedFailure(failure.unsupported, method) }
  if (method === 'tools/call') return { jsonrpc: '2.0', id, result: createFailedToolResult(failure.message) }
  return errorResponse(id, new McpError(errorCodes.internal, failure.message))
}

function sendLegacyRound(
  request: RpcRequest,
  isFirst: boolean,
  context: RoundLoopContext,
  deps: CallDeps,
): Promise<RpcResponse> {
  const send = (): Promise<RpcResponse> => sendToExchange(request, context, deps)
  return isFirst ? send() : sendLaterRound(send, context.call.channel, deps)
}

/** Runs the handler once. If that takes too long, aborts it and returns an error. */
async function sendToExchange(
  request: RpcRequest,
  { call, notificationFilter }: RoundLoopContext,
  deps: CallDeps,
): Promise<RpcResponse> {
  const { channel, client } = call
  if (isCancelled(channel)) throw channel.signal.reason
  const cancellation = new Cancellation()
  let cancelExchange: (reason: unknown) => void = () => {}
  let cancelTimer = (): void => {}
  const endPromise = new Promise<never>((_, reject) => {
    cancelExchange = (reason) => {
      cancellation.cancel(reason)
      reject(reason)
    }
    if (channel.timeoutMs === Number.POSITIVE_INFINITY) return
    cancelTimer = deps.schedule(() => {
      const message = `The call took longer than ${channel.timeoutMs} ms`
      cancellation.cancel(new DOMException(message, 'TimeoutError'))
      reject(new McpError(errorCodes.internal, message))
    }, channel.timeoutMs)
  })
  onCancel(channel, cancelExchange)
  const { principal, context } = channel.caller
  const plainCall = withSignalOf({ principal, context, notify: notificationFilter.send }, cancellation)
  const callWithPeer = withContext(plainCall, olderRequestKey, { revision: client.revision })
  try {
    const responsePromise = deps.exchange(request, callWithPeer)
    // An aborted handler may still fail later, when nothing awaits its response.
    responsePromise.catch(() => {})
    return await Promise.race([responsePromise, endPromise])
  } catch (error) {
    if (isCancelled(channel)) throw channel.signal.reason
    if (!(error instanceof McpError)) deps.reportError(error)
    return errorResponse(request.id, error)
  } finally {
    offCancel(channel, cancelExchange)
    cancelTimer()
    endPromise.catch(() => {})
  }
}

/**
 * Passes on the notifications that older revisions have, and those of extensions. A handler that runs again repeats its
 * progress, so only values above the last one are sent (basic/utilities/progress). After the response nothing is sent.
 */
function createNotificationFilter({ channel, client }: LegacyCall) {
  let lastProgress = Number.NEGATIVE_INFINITY
  let isFilterOpen = true
  const isForwardable = ({ method, params }: RpcNotification): boolean => {
    if (method === 'notifications/message') return true
    if (isExtensionNotification(method)) return client.capabilities.extensions !== undefined
    const progress = params?.['progress']
    if (method !== 'notifications/progress' || typeof progress !== 'number' || progress <= lastProgress) return false
    lastProgress = progress
    return true
  }
  return {
    send: (message: RpcNotification): void => {
      if (isFilterOpen && isForwardable(message)) channel.notify(toPlainNotification(message))
    },
    end: (): void => {
      isFilterOpen = false
    },
  }
}
