import { errorRecord, isCancelled, type JsonObject, type Ledger, type Log, type Runtime, withSignalOf } from '@x/core'
import {
  type Call,
  type CallHeaders,
  callHeadersKey,
  createCall,
  type Exchange,
  headerParamsKey,
  withContext,
} from '@x/exchange'
import {
  checkInputRequests,
  checkResult,
  errorResponse,
  findMethodRow,
  type Method,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import { HeaderParamTools } from './header-params.ts'
import type { RunningCalls } from './running-calls.ts'
import { findCredentialError, findNeededLogin, invalidResultError, noAnswerError } from './upstream-error.ts'

/** What the parts of a proxy or gateway share. */
export interface Deps {
  /** The name of the upstream in errors and in the log. */
  readonly name: string
  readonly ledger: Ledger
  readonly runtime: Runtime
  readonly log: Log
}

/** The dependencies of a hop, its limits, and what it reports about its upstream. */
export interface HopOptions extends Deps {
  /** Milliseconds without a message after which a call is given up. Default: 30 minutes. */
  readonly timeoutMs?: number | undefined
  /** Milliseconds that the first answer of the upstream may take. Default: 30 seconds. */
  readonly describeTimeoutMs?: number | undefined
  /** True if each caller has credentials of its own, and so connections of its own. */
  readonly hasCredentials?: boolean | undefined
  readonly onAnswer?: () => void
  readonly onFailure?: () => void
}

/** Sends a request over one of the connections of an upstream. */
export type SendRequest = (exchange: Exchange, request: RpcRequest, call: Call) => Promise<RpcResponse>

const ignore = (): void => {}

/**
 * Returns the function that sends a request to an upstream and returns its response. Resolves with an error that names
 * the upstream if the response is missing or invalid. Rejects with the reason of the call when the host cancels it.
 */
export function createSendRequest(options: HopOptions, running: RunningCalls): SendRequest {
  const { name, log, onAnswer = ignore, onFailure = ignore } = options
  const headerParams = new HeaderParamTools()
  return async (exchange, request, call) => {
    const isStreaming = findMethodRow(request.method)?.isStreaming === true
    const limited = isStreaming ? { call, end: () => false } : running.begin(call)
    try {
      const response = await headerParams.send(exchange, request, limited.call)
      limited.end()
      onAnswer()
      return checkResponse(request, response, options)
    } catch (error) {
      const isSilent = limited.end()
      if (isCancelled(call)) throw call.signal.reason
      const credentialError = findCredentialError(error)
      if (credentialError === undefined) onFailure()
      const failure = credentialError ?? noAnswerError(name, isSilent ? running.timeoutMs : undefined)
      const response = errorResponse(request.id, failure)
      // A user who has to log in again is not an error.
      if (findNeededLogin(response) === undefined) log(errorRecord(error, { method: request.method, name }))
      return response
    }
  }
}

/** Replaces a result that is not of the type of its method with an error, so that no later function checks it again. */
function checkResponse(request: RpcRequest, response: RpcResponse, { name, log }: Deps): RpcResponse {
  if ('error' in response) return response
  const failure = findResultFailure(request, response.result)
  if (failure === undefined) return response
  const message = `An invalid result of ${name} was not passed on: ${JSON.stringify(failure).slice(0, 500)}`
  log({ level: 'warn', code: 'invalid_result', method: request.method, name, message })
  return errorResponse(request.id, invalidResultError(name))
}

function findResultFailure({ method }: RpcRequest, result: JsonObject): unknown {
  if (findMethodRow(method) === undefined) return undefined
  const { resultType, inputRequests } = result
  if (resultType === 'input_required')
    return inputRequests === undefined ? undefined : checkInputRequests(inputRequests)
  // A result type of an extension, such as that of a task, is known to the hosts that declare the extension.
  if (resultType !== 'complete') return undefined
  // The method has a row, so it is one of the methods of the table.
  return checkResult(method as Method, result)
}

/** The headers that are forwarded: the target of a method of an extension, and the data-layer session. */
const forwardedHeaders: ReadonlySet<string> = new Set(['mcp-name', 'mcp-session-id'])

const { context: noContext } = createCall()

/**
 * Returns the call of a host as its upstream receives it. It has the signal and the notifications of the host, and the
 * headers that repeat the body. The principal, every other value and all credentials stay here.
 */
export function createForwardedCall(call: Call): Call {
  const notify: Call['notify'] = (notification) => {
    // An upstream ends a call with its answer. Over stdio this notification could end another call of the host.
    if (notification.method !== 'notifications/cancelled') call.notify(notification)
  }
  const plain: Call = withSignalOf({ principal: undefined, context: noContext, notify }, call)
  const headerParams = copyHeaders(call.context.get(headerParamsKey), () => true)
  const withParams = headerParams === undefined ? plain : withContext(plain, headerParamsKey, headerParams)
  const headers = copyHeaders(call.context.get(callHeadersKey), (name) => forwardedHeaders.has(name.toLowerCase()))
  return headers === undefined ? withParams : withContext(withParams, callHeadersKey, headers)
}

function copyHeaders(
  headers: Pick<CallHeaders, 'forEach'> | undefined,
  isForwarded: (name: string) => boolean,
): Map<string, string> | undefined {
  let copied: Map<string, string> | undefined
  headers?.forEach((value, name) => {
    if (isForwarded(name)) copied = (copied ?? new Map<string, string>()).set(name, value)
  })
  return copied
}
