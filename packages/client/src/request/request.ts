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
import { type CallErrorContext, ClientError, encodeArguments, withEarlierRun } from './client-error.ts'
import { type ClientState, errorContextOf } from './client-state.ts'
import type { ClientMethod, CompleteResults } from './complete-results.ts'
import type { CallOptions } from './call-options.ts'
import { clientInfoOf, type CoreClientSettings } from './options.ts'
import { type InputRequired, isInputRequired } from './input-required.ts'
import { declaredCapabilities, hasHandlers } from './input-handlers.ts'
import { maxProgressFactor, sendWithResends, timeoutMsOf } from './resend-policy.ts'
import { runRequest, type RunningCall } from './run-request.ts'
import { parseResult, peerError, serverInfoOf } from './parse-result.ts'

/** One call, before it has an id and its `_meta`. */
export interface ClientRequest<M extends string> {
  readonly method: M
  readonly params: JsonObject
  readonly headerParams?: HeaderParams | undefined
  /** True if it may be sent again after its response was lost. Methods that only read always may, and are not asked. */
  readonly isRepeatable?: (() => boolean | Promise<boolean>) | undefined
  /** For a method of an extension: the member of the params that names the target. */
  readonly targetParam?: string | undefined
  /**
   * Receives a streaming response's notifications, with the id of its request. Once it returns true, the stream counts
   * as open and the request has no time limit.
   */
  readonly onMessage?: ((message: RpcNotification, id: RequestId) => boolean) | undefined
}

/**
 * Sends one request of any method. Its response may be the server's error; other failures reject as with
 * {@link SendOnce}.
 */
export type SendRaw = (request: ClientRequest<string>, options: CallOptions) => Promise<RpcResponse>

/** Sends one request and gives its outcome. Rejects with {@link ClientError}, or `signal.reason` when cancelled. */
export type SendOnce = <M extends ClientMethod>(
  request: ClientRequest<M>,
  options: CallOptions & { readonly refresh?: boolean | undefined },
) => Promise<CompleteResults[M] | InputRequired>

/** Sends one call of a method that asks for no input. */
export type SendRequest = <M extends ClientMethod>(
  request: ClientRequest<M>,
  options: CallOptions & { readonly refresh?: boolean | undefined },
) => Promise<CompleteResults[M]>

/**
 * Adds `_meta` to each request and sends it. If the server rejects the protocol revision, it is sent once more, in a
 * revision that the server names (basic/versioning, protocol version negotiation). `transportExchange` is the exchange
 * behind all middleware: no two open requests on it may have the same id. `closed` aborts when the program closes the
 * connection.
 */
export function createSendRawRequest(
  exchanges: {
    readonly exchange: Exchange
    readonly transportExchange: Exchange
    readonly closed: AbortSignal | undefined
  } & Pick<RunningCall, 'getPendingLogin'>,
  options: CoreClientSettings,
  state: ClientState,
): SendRaw {
  const { exchange, transportExchange, getPendingLogin, closed } = exchanges
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
    const { onMessage: onAnyMessage } = call
    const onMessage = onAnyMessage && ((message: RpcNotification): boolean => onAnyMessage(message, id))
    return runRequest(exchange, {
      request,
      headerParams: call.headerParams,
      mcpName: encodeMcpName(call, getErrorContext),
      context: state.identity.context,
      options: callOptions,
      onMessage,
      timeoutMs,
      maxTotalMs,
      clock: options.runtime,
      getErrorContext,
      getPendingLogin,
    })
  }

  return async (call, callOptions) => {
    const getErrorContext = (): CallErrorContext => errorContextOf(call, state)
    let hasEarlierRun = false
    const sendOnce = () => send(call, callOptions, getErrorContext)
    // The reader of a stream opens a lost one again, so it is not sent again here.
    const isReopened = call.onMessage !== undefined || findMethodRow(call.method)?.isStreaming === true
    const onEarlierRun = (): void => void (hasEarlierRun = true)
    const sendAgain = () => sendWithResends(sendOnce, call, { options, callOptions, state, closed, onEarlierRun })
    try {
      const response = await sendInKnownRevision(isReopened ? sendOnce : sendAgain, state, getErrorContext)
      const serverInfo = serverInfoOf(response)
      if (serverInfo !== undefined) state.setServerInfo(serverInfo)
      if (hasEarlierRun && 'error' in response) throw peerError(response, getErrorContext())
      return response
    } catch (error) {
      throw hasEarlierRun ? withEarlierRun(call.method, error) : error
    }
  }
}

async function sendInKnownRevision(
  send: () => Promise<RpcResponse>,
  state: ClientState,
  getErrorContext: ErrorContextOf,
): Promise<RpcResponse> {
  const response = await send()
  const serverVersions = supportedVersionsOf(response)
  if (!serverVersions) return response
  if (!state.trySelectVersion(serverVersions))
    throw unsupportedVersionError(response, serverVersions, getErrorContext())
  // Sent again even if the server lists the very revision that it rejected, because another instance may have rejected it.
  return send()
}

/** Written before the spread: V8 needs ten times as long for a property after a spread. */
function withMeta(params: JsonObject, _meta: JsonObject): JsonObject {
  return '_meta' in params ? { ...params, _meta } : { _meta, ...params }
}

function encodeMcpName(
  { params, targetParam }: ClientRequest<string>,
  getErrorContext: ErrorContextOf,
): string | undefined {
  const name = targetParam === undefined ? undefined : params[targetParam]
  return typeof name === 'string' ? encodeArguments(() => encodeHeaderValue(name), getErrorContext) : undefined
}

/** For methods that this client knows, whose results are checked. */
export function createSendOnce(
  sendRawRequest: SendRaw,
  state: ClientState,
  log: NonNullable<CoreClientSettings['log']>,
): SendOnce {
  return async (call, options) =>
    parseResult(call.method, await sendRawRequest(call, options), () => errorContextOf(call, state), log)
}

/** For all other methods, whose results come back unchecked. */
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

/** For calls of a method that the client does not know. */
export interface ExtensionCallOptions extends CallOptions {
  /**
   * Name of the member of the params that identifies the target. Its value appears in error messages and, over HTTP, in
   * the header `Mcp-Name` (basic/transports/streamable-http).
   */
  readonly targetParam?: string | undefined
  /**
   * True if repeating the request has no further effect. It is then sent again after a lost response, unless
   * `onNotification` is given.
   */
  readonly repeatable?: boolean | undefined
  /**
   * Receives a streaming response's notifications, with the id of its request. Once it returns true, the request has no
   * time limit, and that notification skips `onProgress` and `onLog`. If it throws, the call fails.
   */
  readonly onNotification?: ((message: RpcNotification, id: RequestId) => boolean) | undefined
}

/** Calls a method of an extension. */
export type ExtensionRequest = (
  method: string,
  params?: JsonObject,
  options?: ExtensionCallOptions,
) => Promise<JsonObject>

/** For methods that must not ask for input: a result that does makes the call reject (basic/patterns/mrtr). */
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

// Counted per exchange and not per client: clients may share a connection, and two of its open requests must not have
// the same id.
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
      // Progress is requested even without a listener, because it extends the time limit. Only methods that run a
      // handler of the server's author can report any.
      ...((canAskInput || callOptions.onProgress) && { [metaKeys.progressToken]: id }),
    }
  }
}

/**
 * Revisions that the server implements, if it rejected the request's (basic/versioning, protocol version negotiation).
 * Undefined for every other response.
 */
function supportedVersionsOf(response: RpcResponse): readonly unknown[] | undefined {
  if (!('error' in response) || response.error.code !== errorCodes.unsupportedProtocolVersion) return undefined
  const { data } = response.error
  return isJsonObject(data) && Array.isArray(data.supported) ? data.supported : []
}
