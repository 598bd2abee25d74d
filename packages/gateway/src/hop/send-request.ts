import { errorRecord, formatCount, isCancelled, type JsonObject, withSignalOf } from '@x/core'
import {
  type Call,
  type CallHeaders,
  callHeadersKey,
  createCall,
  type Exchange,
  headerParamsKey,
  withContext,
  withHeader,
} from '@x/exchange'
import {
  checkInputRequests,
  checkResult,
  encodeHeaderValue,
  errorResponse,
  type Failure,
  findMethodRow,
  isMcpError,
  type McpError,
  type Method,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import { omitInvalidItems } from '@x/schema/internal'
import { limitHeaderParams, HeaderParamTools } from './header-params.ts'
import type { Deps, HopOptions } from './hop-options.ts'
import { RunningCalls } from './running-calls.ts'
import {
  connectError,
  findCredentialError,
  findNeededLogin,
  invalidResultError,
  credentialError as createCredentialError,
  isAboutRequest,
  isLoginError,
  mayHaveBegun,
  noAnswerError,
  refusedError,
} from './upstream-error.ts'

/** Sends requests to one upstream, over any of its connections, and reports what it hears. */
export class RequestSender {
  readonly #options: HopOptions
  readonly #running: RunningCalls
  readonly #headerParams = new HeaderParamTools()

  constructor(options: HopOptions) {
    this.#options = options
    this.#running = new RunningCalls(options)
  }

  /** Milliseconds for which the upstream may be silent. */
  get timeoutMs(): number {
    return this.#running.timeoutMs
  }

  /**
   * Sends a request and returns its response. Resolves with an error that names the upstream if the response is missing
   * or invalid. Rejects with the call's reason when the host cancels it.
   */
  async send(exchange: Exchange, request: RpcRequest, call: Call): Promise<RpcResponse> {
    const { name, log, onAnswer } = this.#options
    const limited = this.#running.begin(nameTarget(request, call), findMethodRow(request.method)?.isStreaming !== true)
    try {
      const response = await this.#headerParams.send(exchange, request, limited.call)
      limited.end()
      onAnswer?.()
      return checkResponse(request, response, this.#options)
    } catch (error) {
      const isSilent = limited.end()
      if (isCancelled(call)) throw call.signal.reason
      const response = errorResponse(request.id, this.#toError(request.method, error, isSilent))
      // A user who must log in again is not an error.
      if (findNeededLogin(response) === undefined) log(errorRecord(error, { method: request.method, name }))
      return response
    }
  }

  close(): void {
    this.#running.close()
  }

  #toError(method: string, error: unknown, isSilent: boolean): McpError {
    const { name, isNew, onAnswer, onFailure } = this.#options
    const credentialError = findCredentialError(error)
    if (credentialError !== undefined) return credentialError
    if (isMcpError(error)) return error
    if (isLoginError(error)) return createCredentialError(name, error)
    if (isAboutRequest(error)) {
      onAnswer?.()
      return refusedError(name, method, error)
    }
    onFailure?.(error)
    const limitMs = isSilent ? this.timeoutMs : undefined
    return noAnswerError(name, { begun: mayHaveBegun(method, error), limitMs, cause: error, isNew: isNew?.() })
  }
}

/** Reports what `connect` threw: a failure of the upstream, unless it is about the credential of one caller. */
export function reportConnectError(error: unknown, { name, log, hasCredentials, onFailure }: HopOptions): McpError {
  const cause = connectError(error)
  if (hasCredentials !== true) onFailure?.(cause)
  log(errorRecord(error, { method: 'server/discover', name }))
  return noAnswerError(name, { begun: false, cause })
}

/** Methods of extensions whose target the header `Mcp-Name` repeats, with the param that has it. */
const targetParams: ReadonlyMap<string, string> = new Map([
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
  ['skills/get', 'uri'],
  ['resources/directory/read', 'uri'],
])

/** A host over stdio has sent no headers, and one of a gateway has another name for the target. */
function nameTarget({ method, params }: RpcRequest, call: Call): Call {
  const target = params?.[targetParams.get(method) ?? '']
  return typeof target === 'string' ? withHeader(call, 'Mcp-Name', encodeHeaderValue(target)) : call
}

/**
 * Makes an error of a result that is not of its method's type, so that nothing later must check it again. A list is
 * passed on without its invalid items.
 */
function checkResponse({ id, method }: RpcRequest, response: RpcResponse, { name, log }: Deps): RpcResponse {
  if ('error' in response) return response
  const failure = findResultFailure(method, response.result)
  if (failure === undefined) return response
  // A failure is that of a method with a row, so it is one of the table.
  const rest = omitInvalidItems(method as Method, response.result, failure)
  const problem =
    rest === undefined
      ? `An invalid result of ${name} was not passed on`
      : `${name} listed ${formatCount(rest.omitted, 'invalid item')}, not passed on`
  const message = `${problem}: ${JSON.stringify(failure).slice(0, 500)}`
  log({ level: 'warn', code: 'invalid_result', method, name, message })
  return rest === undefined ? errorResponse(id, invalidResultError(name)) : { ...response, result: rest.result }
}

function findResultFailure(method: string, result: JsonObject): Failure | undefined {
  if (findMethodRow(method) === undefined) return undefined
  const { resultType, inputRequests } = result
  if (resultType === 'input_required')
    return inputRequests === undefined ? undefined : checkInputRequests(inputRequests)
  // The hosts that declare an extension know its result types, such as that of a task.
  if (resultType !== 'complete') return undefined
  // The method has a row, so it is one of the table.
  return checkResult(method as Method, result)
}

/** Only these are forwarded: the target of an extension's method, and the data-layer session. */
const forwardedHeaders: ReadonlySet<string> = new Set(['mcp-name', 'mcp-session-id'])

const { context: noContext } = createCall()

/**
 * A host's call as its upstream receives it: with the host's signal and notifications, and the headers that repeat the
 * body. The principal, every other value and all credentials stay here.
 */
export function createForwardedCall(call: Call): Call {
  const notify: Call['notify'] = (notification) => {
    // An upstream ends a call with its answer. Over stdio this notification could end another call of the host.
    if (notification.method !== 'notifications/cancelled') call.notify(notification)
  }
  const plain: Call = withSignalOf({ principal: undefined, context: noContext, notify }, call)
  const headerParams = copyHeaders(call.context.get(headerParamsKey), () => true)
  if (headerParams !== undefined) limitHeaderParams(headerParams)
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
