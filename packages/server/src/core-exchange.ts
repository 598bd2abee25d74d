import { isLimitError, isUnavailable, quoteText, isCancelled, offCancel, isPromiseLike } from '@x/core'
import {
  type Call,
  callerKeyOf,
  type Exchange,
  type ExtensionMethod,
  journalKey,
  limitErrorToMcp,
  type OfferedTarget,
  unavailableError,
} from '@x/exchange'
import {
  errorCodes,
  errorResponse,
  isJsonObject,
  isMcpError,
  type JsonObject,
  McpError,
  protocolVersion,
  type RpcRequest,
  type RpcResponse,
  findMethodRow,
  type RpcError,
} from '@x/schema'
import {
  findRevisionError,
  logMissingScopes,
  overloadedReason,
  quotaReason,
  readRequestMeta,
} from '@x/exchange/internal'
import type { Catalog } from './compile/catalog.ts'
import { findMethod, type ServedMethod } from './methods/methods.ts'
import { logContextOf, type LoggedRequest, reportServerError } from './request/report.ts'
import type { ServerState } from './server-state.ts'
import type { ServedRequest } from './replay/served-request.ts'
import type { ServerSettings } from './compile/settings.ts'
import { type InputDeclined, isInputDeclined } from './definitions/context.ts'

/** The innermost exchange, behind all middleware: serves the protocol's methods and those of extensions. */
export function createCoreExchange(state: ServerState): Exchange {
  const { settings } = state
  function exchange(request: RpcRequest, call: Call): Promise<RpcResponse> {
    const method = findMethod(request.method)
    if (method === undefined) return serveExtensionMethod(request, call)
    return method.isStreaming === true
      ? serveStreamingMethod(method, request, call)
      : serveMethod(method, request, call)
  }

  /** Serves an extension's method, or rejects an unknown one. */
  async function serveExtensionMethod(request: RpcRequest, call: Call): Promise<RpcResponse> {
    const method = state.methods?.get(request.method)
    if (method === undefined) return serveMethod(undefined, request, call)
    try {
      readRequestMeta(request)
      const result = addResultMembers(await runCountedMethod(method, { request, call }, settings), state.catalog)
      return { jsonrpc: '2.0', id: request.id, result }
    } catch (error) {
      if (isCancelled(call)) throw call.signal.reason
      // An extension may choose any error code.
      if (!isMcpError(error)) return toErrorResponse(error, { ...request, call }, settings)
      reportRefusal(error, { ...request, call }, settings)
      return errorResponse(request.id, error)
    }
  }

  async function serveMethod(method: ServedMethod | undefined, request: RpcRequest, call: Call): Promise<RpcResponse> {
    let servedRequest: ServedRequest | undefined
    try {
      const { handle } = requireServedMethod(method, request, state)
      servedRequest = createServedRequest(request, call, state)
      // A task's run is not checked here, because the ledger counted the task when it was created.
      const { journalStore, callerKey } = servedRequest
      if (journalStore === undefined) settings.ledger.check('calls', callerKey)
      const pendingResult = handle(request.params, servedRequest)
      const isPending = isPromiseLike(pendingResult)
      const result = isPending ? await countPendingRequest(pendingResult, servedRequest) : pendingResult
      return { jsonrpc: '2.0', id: request.id, result }
    } catch (error) {
      // A handler that throws because it was cancelled has not failed, and no caller waits for an answer.
      if (isCancelled(call)) throw call.signal.reason
      return toErrorResponse(error, { ...request, call }, settings)
    } finally {
      if (servedRequest !== undefined) endRequest(servedRequest)
    }
  }

  // Thousands of streaming responses may be open, so none keeps its request or the definitions at its beginning in
  // memory, and no suspended function waits for its end.
  function serveStreamingMethod(servedMethod: ServedMethod, request: RpcRequest, call: Call): Promise<RpcResponse> {
    const { id } = request
    // The name comes from the table of methods; the request's own string would stay in memory with each stream.
    const method = servedMethod.name
    const toStreamErrorResponse = (error: unknown): RpcResponse => {
      if (isCancelled(call)) throw call.signal.reason
      return toErrorResponse(error, { id, method, call }, settings)
    }
    return startStreamingMethod(servedMethod, { request, call }, state).then(
      (result) => ({ jsonrpc: '2.0', id, result }),
      toStreamErrorResponse,
    )
  }

  return exchange
}

/** Implements {@link ExtensionHost.offers}. */
export function findOfferedTarget(request: RpcRequest, { catalog, methods }: ServerState): OfferedTarget | undefined {
  const { method, params } = request
  const row = findMethodRow(method)
  if (row === undefined) return methods?.has(method) === true ? { method, name: undefined } : undefined
  const name = row.targetParam === 'name' ? params?.['name'] : undefined
  const { byKey } = row.capability === 'prompts' ? catalog.prompts : catalog.tools
  return { method, name: typeof name === 'string' && byKey.has(name) ? name : undefined }
}

function startStreamingMethod(
  method: ServedMethod,
  { request, call }: { readonly request: RpcRequest; readonly call: Call },
  state: ServerState,
): Promise<JsonObject> {
  try {
    const { handle } = requireServedMethod(method, request, state)
    return Promise.resolve(handle(request.params, createServedRequest(request, call, state)))
  } catch (error) {
    return Promise.reject(error)
  }
}

/** Ends a request: no more notifications, and no listeners left on signals that live longer. */
function endRequest(request: ServedRequest): void {
  request.isOpen = false
  request.releaseCall?.()
  if (request.cancelListeners === undefined) return
  for (const listener of request.cancelListeners) offCancel(request.call, listener)
}

/**
 * Counts an asynchronous call until its request ends. A task's run is not counted, because the ledger counted the task
 * when it was created.
 */
function countPendingRequest<T>(pendingResult: T, request: ServedRequest): T {
  const { journalStore, settings, callerKey } = request
  if (journalStore !== undefined) return pendingResult
  try {
    request.releaseCall = settings.ledger.take('calls', callerKey)
  } catch {
    // The limit was checked before the handler ran, and the handler may have reached it since by calling this same
    // server. Its result must not be lost, so the call is not rejected.
  }
  return pendingResult
}

async function runCountedMethod(
  method: ExtensionMethod,
  { request, call }: { readonly request: RpcRequest; readonly call: Call },
  { ledger }: ServerSettings,
): Promise<JsonObject> {
  const releaseCall = ledger.take('calls', callerKeyOf(call))
  try {
    return await method(request, call)
  } finally {
    releaseCall()
  }
}

function createServedRequest(
  request: RpcRequest,
  call: Call,
  { catalog, settings, extensionResources }: ServerState,
): ServedRequest {
  const { id, method, params = {} } = request
  return {
    id,
    method,
    params,
    call,
    callerKey: callerKeyOf(call),
    meta: readRequestMeta(request),
    catalog,
    settings,
    extensionResources,
    journalStore: call.context.get(journalKey),
    drainCount: settings.loadMonitor.drainCount,
    observation: settings.events.emit === undefined ? undefined : createObservation(settings),
    work: undefined,
    callId: undefined,
    isOpen: true,
    releaseCall: undefined,
    cancelListeners: undefined,
  }
}

function createObservation({ now, wallClock }: ServerSettings): ServedRequest['observation'] {
  return { beganAt: now(), startedAt: wallClock(), stepCount: 0, questionCount: 0, newAnswers: new Set() }
}

/**
 * Finds the method's row if this server serves it. Every rejection contains the served revisions, because a client of
 * an earlier revision may be able to show only the message (basic/versioning, compatibility).
 */
function requireServedMethod(method: ServedMethod | undefined, request: RpcRequest, state: ServerState): ServedMethod {
  const missingCapability = method && findMissingCapability(method, state)
  if (method !== undefined && missingCapability === undefined) return method
  const olderRevisionError = method === undefined ? findRevisionError(request) : undefined
  if (olderRevisionError !== undefined) throw olderRevisionError
  const reason = missingCapability === undefined ? '' : `, because the server has no ${missingCapability}`
  const supported = [protocolVersion, ...state.olderRevisions]
  const message = `Method ${quoteText(request.method)} is not served here${reason}; the server speaks revision ${supported.join(', ')}`
  throw new McpError(errorCodes.methodNotFound, message, { data: { supported } })
}

/** An extension's result gets the members that every result has (basic/index, result responses). */
function addResultMembers(result: JsonObject, { resultMeta }: Catalog): JsonObject {
  const resultWithType = result['resultType'] === undefined ? { resultType: 'complete', ...result } : result
  return {
    ...resultWithType,
    _meta: isJsonObject(resultWithType['_meta']) ? { ...resultWithType['_meta'], ...resultMeta } : resultMeta,
  }
}

function findMissingCapability(
  { capability, isStreaming }: ServedMethod,
  { catalog, settings }: ServerState,
): string | undefined {
  if (capability !== undefined && catalog.capabilities[capability] === undefined) return capability
  return isStreaming === true && !settings.subscriptions.isEnabled ? 'subscriptions' : undefined
}

const definedErrorCodes = new Set<number>(Object.values(errorCodes))

/**
 * Errors become responses here and nowhere else. An `McpError` is sent as it is; a reached limit, or a part that cannot
 * be reached, is sent with its reason. Everything else becomes -32603 without details, and is logged for the author.
 */
function toErrorResponse(error: unknown, request: LoggedRequest, settings: ServerSettings): RpcError {
  const mcpError = isLimitError(error) ? limitErrorToMcp(error) : error
  if (isMcpError(mcpError) && isSendable(mcpError)) {
    reportRefusal(mcpError, request, settings)
    return errorResponse(request.id, mcpError)
  }
  if (isInputDeclined(error)) return errorResponse(request.id, declinedError(error))
  reportServerError(error, logContextOf(request, targetNameOf(request)), settings)
  // A handler may have begun, so the client must not send the request again unless it has an idempotency key.
  return errorResponse(request.id, isUnavailable(error) ? unavailableError({ begun: true }) : undefined)
}

function reportRefusal(error: McpError, request: LoggedRequest, { events, log }: ServerSettings): void {
  const { data } = error
  logMissingScopes(error, {
    request,
    principal: request.call.principal,
    log: (record) => log({ ...logContextOf(request), ...record }),
  })
  if (events.emit === undefined || !isJsonObject(data)) return
  const { reason, limit } = data
  if ((reason !== overloadedReason && reason !== quotaReason) || typeof limit !== 'string') return
  const { method, call } = request
  events.emit({ type: 'call_refused', call, method, name: targetNameOf(request), reason, limit })
}

/** For a prompt or resource whose user did not answer, because their results cannot express this. */
function declinedError({ key, action, message }: InputDeclined): McpError {
  return new McpError(errorCodes.invalidParams, message, { data: { key, action } })
}

function targetNameOf({ method, params }: LoggedRequest): string | undefined {
  const targetParam = findMethodRow(method)?.targetParam
  const name = targetParam && params?.[targetParam]
  return typeof name === 'string' ? name.slice(0, 1000) : undefined
}

/**
 * True if an error code may be sent. The specification defines the codes from -32099 to -32000, and some that it once
 * defined must not be sent any more (basic/index, error codes).
 */
function isSendable({ code }: McpError): boolean {
  if (!Number.isSafeInteger(code)) return false
  return definedErrorCodes.has(code) || code < -32099 || code > -32000
}
