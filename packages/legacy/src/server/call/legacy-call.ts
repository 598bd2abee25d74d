import { offAbort, onAbort } from '@x/core'
import {
  type CallContext,
  contextKey,
  createCall,
  errorCodes,
  errorResponse,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  McpError,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
  withContext,
} from '@x/schema'
import { createCapabilityFailure, createFailedToolResult, toLegacyFailure } from '../../translate/error.ts'
import { isExtensionNotification, toModernRequest, toPlainNotification } from '../../translate/request.ts'
import { toLegacyResult } from '../../translate/result.ts'
import type { CallFailure } from './answer-collector.ts'
import { askClient, resumeRound } from './ask-client.ts'
import type { LegacyCall } from './call-channel.ts'
import type { CallDeps } from './call-deps.ts'
import { createUrlPages, type UrlPages } from './url-pages.ts'
import type { WaitingRound } from './waiting-round.ts'

/** The connection of an older client, as a handler sees it. */
export interface LegacyPeer {
  /** The revision that the client speaks. */
  readonly revision: string
}

/** The older client that calls. Absent for a client of 2026-07-28. */
const legacyPeerKey = contextKey<LegacyPeer>('x/legacy-peer')

/**
 * Returns the revision that the client of this call speaks, undefined for a client of 2026-07-28. Handlers need it for
 * display and logs alone: everything else works the same for both.
 *
 * @example
 * run: (_, ctx) => legacyPeerOf(ctx)?.revision ?? 'this revision'
 */
export function legacyPeerOf({ context }: { readonly context: CallContext }): LegacyPeer | undefined {
  return context.get(legacyPeerKey)
}

/**
 * Runs a call of an older client through the server's exchange. Questions in a result are sent to the client on the
 * stream of the call. The answers go into the next request, as a client of 2026-07-28 sends them. Given a round that
 * another instance asked, the call continues with its answers. Rejects with the signal's reason when the call is
 * cancelled, and with `LimitError` when too many calls of its caller wait.
 */
export async function runLegacyCall(
  call: LegacyCall,
  deps: CallDeps,
  resumedRound?: WaitingRound,
): Promise<RpcResponse> {
  const notificationFilter = createNotificationFilter(call)
  const urlPages = createUrlPages(call.channel, deps, resumedRound?.pages)
  try {
    return await runRounds({ call, notificationFilter, urlPages }, deps, resumedRound)
  } finally {
    notificationFilter.end()
  }
}

interface RoundLoopContext extends ExchangeContext {
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
    const response = await sendToExchange(request, context, deps)
    const inputRequests = inputRequestsIn(response)
    urlPages.notifyCompletedUrls(inputRequests)
    if (inputRequests === undefined || 'error' in response) return toLegacyResponse(call, response)
    if (Object.keys(inputRequests).length === 0)
      await deps.sleep(computeRetryDelayMs(retryCount++), call.channel.signal)
    else retryCount = 0
    const { requestState } = response.result
    const outcome = await askClient(
      inputRequests,
      { ...call, urlPages, roundState: { requestState, roundCount } },
      deps,
    )
    if ('failure' in outcome) return createFailureResponse(call, outcome.failure)
    if (outcome.isClientInvolved) roundCount += 1
    if (hasTooManyRounds({ roundCount, retryCount })) return createTooManyRoundsResponse(call)
    request = addAnswers(firstRequest, requestState, outcome.answers)
  }
}

/** Rounds of one call with questions for its client. A form with one question for each field has fewer. */
const maxRounds = 50
const maxRetries = 1000

function countEarlierRounds(resumedRound: WaitingRound | undefined): number {
  return resumedRound === undefined ? 0 : resumedRound.roundCount + 1
}

function hasTooManyRounds({
  roundCount,
  retryCount,
}: {
  readonly roundCount: number
  readonly retryCount: number
}): boolean {
  return roundCount > maxRounds || retryCount > maxRetries
}

/** Returns the request that continues a call with the answers of a round that was asked before. */
async function createResumedRequest(
  round: WaitingRound,
  { call, urlPages }: RoundLoopContext,
  deps: CallDeps,
): Promise<RpcRequest | { readonly failure: CallFailure }> {
  const outcome = await resumeRound(round, { ...call, urlPages, roundState: round }, deps)
  if ('failure' in outcome) return outcome
  return addAnswers(toModernRequest(call.request, call.client, call.level), round.requestState, outcome.answers)
}

/** Returns what a result asks for, which may be nothing but the retry, undefined when it asks for neither. */
function inputRequestsIn(response: RpcResponse): JsonObject | undefined {
  if (!('result' in response) || response.result['resultType'] !== 'input_required') return undefined
  const { inputRequests } = response.result
  return isJsonObject(inputRequests) ? inputRequests : {}
}

// A handler that asks for the retry alone is tried again at once, and slower when it does so again and again.
function computeRetryDelayMs(retryCount: number): number {
  return Math.min(250, 50 * retryCount)
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
  const isExtensionResult = client.capabilities.extensions !== undefined
  if (resultType !== undefined && resultType !== 'complete' && !isExtensionResult) {
    const error = new McpError(errorCodes.internal, 'The result needs a client of revision 2026-07-28')
    return errorResponse(id, error)
  }
  return { jsonrpc: '2.0', id, result: toLegacyResult(response.result, method, client.revision) }
}

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

/** Runs the handler once. A run that takes too long is aborted, and its call gets an error. */
async function sendToExchange(
  request: RpcRequest,
  { call, notificationFilter }: ExchangeContext,
  deps: CallDeps,
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
    // A handler that is stopped may fail afterwards. Its response is no longer waited for.
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
 * Passes on the notifications that older revisions have, and those of extensions. A handler that runs again reports its
 * progress from the beginning, so only values above the last one are sent (basic/utilities/progress). Nothing is sent
 * after the response.
 */
function createNotificationFilter({ channel, client }: LegacyCall): NotificationFilter {
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
    send: (message) => {
      if (isFilterOpen && isForwardable(message)) channel.notify(toPlainNotification(message))
    },
    end: () => {
      isFilterOpen = false
    },
  }
}
