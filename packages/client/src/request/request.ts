import type { Exchange } from '@x/exchange'
import {
  encodeHeaderValue,
  errorCodes,
  findMethodRow,
  type HeaderParams,
  isJsonObject,
  type JsonObject,
  metaKeys,
  projectMetaKeys,
  type RequestId,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import { type CallErrorContext, ClientError } from './client-error.ts'
import { type ClientState, errorContextOf } from './client-state.ts'
import type { ClientMethod, CompleteResults } from './complete-results.ts'
import type { CallOptions } from './call-options.ts'
import { clientInfoOf, type CoreClientSettings } from './options.ts'
import { type InputRequired, isInputRequired } from './input-required.ts'
import { declaredCapabilities, hasHandlers } from './input-handlers.ts'
import { maxProgressFactor, sendWithResends, timeoutMsOf } from './resend-policy.ts'
import { runCall } from './run-call.ts'
import { parseResult, peerError, serverInfoOf } from './parse-result.ts'

/** One call, before it has an id and its `_meta`. */
export interface ClientRequest<M extends string> {
  readonly method: M
  readonly params: JsonObject
  readonly headerParams?: HeaderParams | undefined
  /**
   * Returns true if the request may be sent again after its response was lost. Not called for methods that only read,
   * which may always be sent again.
   */
  readonly isRepeatable?: (() => boolean | Promise<boolean>) | undefined
  /** The member of the params that names the target, for a method of an extension. */
  readonly targetParam?: string | undefined
  /**
   * Receives the notifications of a streaming response, with the id of its request. Returns true once the stream is
   * open. From then on the request has no time limit.
   */
  readonly onMessage?: ((message: RpcNotification, id: RequestId) => boolean) | undefined
}

/**
 * Sends one request of any method and returns its response, which may be the server's error. Rejects as {@link
 * SendOnce} does for all other failures.
 */
export type SendRaw = (request: ClientRequest<string>, options: CallOptions) => Promise<RpcResponse>

/** Sends one request and returns its outcome. Rejects with {@link ClientError}, or `signal.reason` when cancelled. */
export type SendOnce = <M extends ClientMethod>(
  request: ClientRequest<M>,
  options: CallOptions & { readonly refresh?: boolean | undefined },
) => Promise<CompleteResults[M] | InputRequired>

/** Sends one call of a method that asks for no input, and returns its complete result. */
export type SendRequest = <M extends ClientMethod>(
  request: ClientRequest<M>,
  options: CallOptions & { readonly refresh?: boolean | undefined },
) => Promise<CompleteResults[M]>

/** The exchanges that a client's requests go through. */
export interface RequestExchanges {
  readonly exchange: Exchange
  /** The exchange behind all middleware. No two open requests on it may have the same id. */
  readonly transportExchange: Exchange
  /** Returns the login of a user that the requests wait for. */
  readonly getPendingLogin: () => Error | undefined
  /** Aborts when the program closes the connection. */
  readonly closed: AbortSignal | undefined
}

/**
 * Creates the function that adds `_meta` to a request and sends it. If the server rejects the protocol revision, the
 * function sends the request once more, in a revision that the server names (basic/versioning, protocol version
 * negotiation).
 */
export function createSendRawRequest(
  { exchange, transportExchange, getPendingLogin, closed }: RequestExchanges,
  options: CoreClientSettings,
  state: ClientState,
): SendRaw {
  const createRequestMeta = createMetaFactory(options)
  const nextId = createIdGenerator(transportExchange)

  const send = (
    call: ClientRequest<string>,
    callOptions: CallOptions,
    getErrorContext: ErrorContextOf,
  ): Promise<RpcResponse> => {
    const id = nextId()
    const _meta = createRequestMeta(id, state.protocolVersion, {
      options: callOptions,
      canAskInput: findMethodRow(call.method)?.canRequireInput ?? false,
    })
    const request: RpcRequest = { jsonrpc: '2.0', id, method: call.method, params: withMeta(call.params, _meta) }
    const timeoutMs = timeoutMsOf(options, callOptions)
    const isStreaming = findMethodRow(call.method)?.isStreaming === true
    const maxTotalMs = isStreaming ? timeoutMs : timeoutMs * maxProgressFactor
    const clock = options.runtime
    const { headerParams, onMessage: onAnyMessage } = call
    const nameHeader = encodeMcpName(call, getErrorContext)
    const onMessage = onAnyMessage && ((message: RpcNotification): boolean => onAnyMessage(message, id))
    return runCall(exchange, {
      request,
      headerParams,
      mcpName: nameHeader,
      context: state.identity.context,
      options: callOptions,
      onMessage,
      timeoutMs,
      maxTotalMs,
      clock,
      getErrorContext,
      getPendingLogin,
    })
  }

  return async (call, callOptions) => {
    const getErrorContext = (): CallErrorContext => errorContextOf(call, state)
    const sendOnce = (): Promise<RpcResponse> => send(call, callOptions, getErrorContext)
    // The reader of a streaming response opens a lost stream again itself, so the request is not sent again here.
    const isReopened = call.onMessage !== undefined || findMethodRow(call.method)?.isStreaming === true
    const sendAgain = (): Promise<RpcResponse> =>
      isReopened ? sendOnce() : sendWithResends(sendOnce, call, { options, callOptions, state, closed })
    let response = await sendAgain()
    const serverVersions = supportedVersionsOf(response)
    if (serverVersions) {
      if (!state.trySelectVersion(serverVersions))
        throw unsupportedVersionError(response, serverVersions, getErrorContext())
      // The request is sent again even if the server lists the revision that it has just rejected, because another
      // instance may have rejected it.
      response = await sendAgain()
    }
    const serverInfo = serverInfoOf(response)
    if (serverInfo !== undefined) state.setServerInfo(serverInfo)
    return response
  }
}

/**
 * Returns the params with the `_meta` of the client. The property is written before the spread, because V8 needs ten
 * times as long for a property after a spread.
 */
function withMeta(params: JsonObject, _meta: JsonObject): JsonObject {
  return '_meta' in params ? { ...params, _meta } : { _meta, ...params }
}

/** Returns the encoded value of the header `Mcp-Name` for a method of an extension. */
function encodeMcpName(
  { params, targetParam }: ClientRequest<string>,
  getErrorContext: ErrorContextOf,
): string | undefined {
  const name = targetParam === undefined ? undefined : params[targetParam]
  if (typeof name !== 'string') return undefined
  try {
    return encodeHeaderValue(name)
  } catch (error) {
    throw new ClientError(
      'invalid_arguments',
      error instanceof Error ? error.message : String(error),
      getErrorContext(),
    )
  }
}

/** Creates the calls of the methods that this client knows, whose results are checked. */
export function createSendOnce(sendRawRequest: SendRaw, state: ClientState): SendOnce {
  return async (call, options) =>
    parseResult(call.method, await sendRawRequest(call, options), () => errorContextOf(call, state))
}

/** Creates the calls of all other methods, whose results are returned unchecked. */
export function createExtensionRequest(sendRawRequest: SendRaw, state: ClientState): ExtensionRequest {
  return async (method, params = {}, options = {}) => {
    const { repeatable, targetParam, onNotification: onMessage } = options
    const call = {
      method,
      params,
      targetParam,
      onMessage,
      isRepeatable: repeatable === true ? () => true : undefined,
    }
    const response = await sendRawRequest(call, options)
    if ('error' in response) throw peerError(response, errorContextOf(call, state))
    return response.result
  }
}

/** Options of a call of an extension's method. */
export interface ExtensionCallOptions extends CallOptions {
  /**
   * The name of the member of the params that identifies the target. Its value appears in error messages and, over
   * HTTP, in the header `Mcp-Name` (basic/transports/streamable-http).
   */
  readonly targetParam?: string | undefined
  /**
   * True if repeating the request has no further effect. The client then sends the request again if its response is
   * lost, unless `onNotification` is given.
   */
  readonly repeatable?: boolean | undefined
  /**
   * Receives the notifications of a streaming response, with the id of its request. If it returns true, the request has
   * no time limit from then on, and the notification does not go to `onProgress` or `onLog`. An error that it throws
   * fails the call.
   */
  readonly onNotification?: ((message: RpcNotification, id: RequestId) => boolean) | undefined
}

/** Calls a method of an extension. */
export type ExtensionRequest = (
  method: string,
  params?: JsonObject,
  options?: ExtensionCallOptions,
) => Promise<JsonObject>

/**
 * Wraps the calls of methods that must not ask for input. A result that asks for input makes them reject
 * (basic/patterns/mrtr).
 */
export function withCompleteResult(sendOnce: SendOnce, state: ClientState): SendRequest {
  return async (call, options) => {
    const outcome = await sendOnce(call, options)
    if (!isInputRequired(outcome)) return outcome
    throw new ClientError('input_required', 'this call cannot be asked for input', errorContextOf(call, state))
  }
}

type ErrorContextOf = () => CallErrorContext

function unsupportedVersionError(
  response: RpcResponse,
  serverVersions: readonly unknown[],
  errorContext: CallErrorContext,
): ClientError {
  const rpc = 'error' in response ? response.error : undefined
  const shownVersions = JSON.stringify(serverVersions).slice(0, 200)
  const reason = `the server speaks none of this client's revisions of the protocol; it names ${shownVersions}`
  return new ClientError('unsupported_version', reason, { ...errorContext, rpc })
}

// The counters belong to exchanges and not to clients, because clients may share a connection. Two open requests on a
// connection must not have the same id.
const idCounters = new WeakMap<Exchange, { lastId: number }>()

function createIdGenerator(exchange: Exchange): () => number {
  const counter = idCounters.get(exchange) ?? { lastId: 0 }
  idCounters.set(exchange, counter)
  return () => {
    counter.lastId += 1
    return counter.lastId
  }
}

type CreateRequestMeta = (
  id: number,
  selectedVersion: string,
  call: { readonly options: CallOptions; readonly canAskInput: boolean },
) => JsonObject

function createMetaFactory(options: CoreClientSettings): CreateRequestMeta {
  const baseMeta: JsonObject = {
    [metaKeys.clientCapabilities]: declaredCapabilities(options, {}),
    [metaKeys.clientInfo]: clientInfoOf(options),
  }
  return (id, selectedVersion, { options: callOptions, canAskInput }) => {
    const logLevel = callOptions.logLevel ?? (callOptions.onLog ? 'info' : undefined)
    return {
      ...callOptions.meta,
      [metaKeys.protocolVersion]: selectedVersion,
      ...baseMeta,
      ...((callOptions.capabilities ?? hasHandlers(callOptions)) && {
        [metaKeys.clientCapabilities]: declaredCapabilities(options, callOptions),
      }),
      ...(canAskInput &&
        callOptions.idempotencyKey !== undefined && { [projectMetaKeys.idempotencyKey]: callOptions.idempotencyKey }),
      ...(logLevel !== undefined && { [metaKeys.logLevel]: logLevel }),
      // A call requests progress even without a listener, because progress extends its time limit. Only methods that
      // run a handler of the server's author can report progress.
      ...((canAskInput || callOptions.onProgress) && { [metaKeys.progressToken]: id }),
    }
  }
}

/**
 * Returns the protocol revisions that the server implements, if it rejected the revision of the request
 * (basic/versioning, protocol version negotiation). Otherwise returns undefined.
 */
function supportedVersionsOf(response: RpcResponse): readonly unknown[] | undefined {
  if (!('error' in response) || response.error.code !== errorCodes.unsupportedProtocolVersion) return undefined
  const { data } = response.error
  return isJsonObject(data) && Array.isArray(data.supported) ? data.supported : []
}
