import { errorRecord, isCancelled, type JsonObject, type Log, withSignalOf } from '@x/core'
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
  type McpError,
  type Method,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import type { Availability } from '../upstream/availability.ts'
import type { HeaderParamTools } from './header-params.ts'
import type { RunningCalls } from './running-calls.ts'
import { awayError, findCredentialError, findNeededLogin, invalidResultError, noAnswerError } from './upstream-error.ts'

/** The dependencies that all requests to one upstream share. */
export interface ForwardContext {
  /** The name of the upstream in errors. */
  readonly name: string
  readonly log: Log
  readonly running: RunningCalls
  readonly headerParams: HeaderParamTools
  /** Refuses calls to an unreachable upstream. Undefined for a proxy, whose hosts have no other upstream. */
  readonly availability?: Availability | undefined
}

/**
 * Sends a request to an upstream and returns its response. Resolves with an error that names the upstream if the
 * response is missing or invalid. Rejects with the reason of the call when the host cancels it.
 */
export async function forward(
  exchange: Exchange,
  request: RpcRequest,
  { call, context }: { readonly call: Call; readonly context: ForwardContext },
): Promise<RpcResponse> {
  const { name, log, running, headerParams, availability } = context
  const retryAfterMs = availability?.admit()
  if (retryAfterMs !== undefined) return errorResponse(request.id, awayError(name, retryAfterMs))
  const isStreaming = findMethodRow(request.method)?.isStreaming === true
  const limited = isStreaming ? { call, end: () => false } : running.begin(call)
  let isSilent = false
  try {
    const response = await headerParams.send(exchange, request, limited.call)
    limited.end()
    availability?.succeed()
    return checkResponse(request, response, context)
  } catch (error) {
    isSilent = limited.end()
    if (isCancelled(call)) throw call.signal.reason
    const response = errorResponse(request.id, findCredentialError(error) ?? failAnswer(context, isSilent))
    // A user who has to log in again is not an error.
    if (findNeededLogin(response) === undefined) log(errorRecord(error, { method: request.method, name }))
    return response
  }
}

/** Counts a failure of the upstream, and creates its error. */
function failAnswer({ name, running, availability }: ForwardContext, isSilent: boolean): McpError {
  availability?.fail()
  return noAnswerError(name, isSilent ? running.timeoutMs : undefined)
}

/** Replaces a result that is not of the type of its method with an error, so that no later function checks it again. */
function checkResponse(request: RpcRequest, response: RpcResponse, { name, log }: ForwardContext): RpcResponse {
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
