import { errorRecord, isCancelled } from '@x/core'
import {
  type Call,
  callerKeyOf,
  callHeadersKey,
  type Exchange,
  type ExtensionInstance,
  type ExtensionMethod,
  type Middleware,
  withContext,
} from '@x/exchange'
import { errorCodes, errorResponse, type JsonObject, McpError, type RpcRequest, type RpcResponse } from '@x/schema'
import { extendsResultKey, recordedPartsKey } from '@x/exchange/internal'
import {
  readSessionMetadata,
  sessionHeader,
  sessionKey,
  type SessionMetadata,
  sessionMethods,
} from '../session-metadata.ts'
import { createSealedSession } from './create-session.ts'
import { finishSessionRequest } from './end-session.ts'
import {
  type OpenedSession,
  openSession,
  openedSessionKey,
  recordedPartName,
  type SessionRequest,
} from './opened-session.ts'
import type { ResolvedSessionOptions } from './resolved-session-options.ts'
import { createInvalidSessionError, toPeerError } from './session-errors.ts'

/**
 * Serves the methods that create and delete sessions, and opens the session of every other request that has one (seed
 * data-layer-sessions). Handlers find it in the context of the call, and the result contains it. Requests without a
 * session pass unchanged.
 */
export function serveSessions(
  sessionOptions: ResolvedSessionOptions,
): Pick<ExtensionInstance, 'methods' | 'middleware'> {
  return {
    methods: {
      [sessionMethods.create]: toExtensionMethod(serveCreation, sessionOptions),
      [sessionMethods.delete]: toExtensionMethod(serveDeletion, sessionOptions),
    },
    middleware: createSessionMiddleware(sessionOptions),
  }
}

interface SessionMethodRequest {
  readonly request: RpcRequest
  readonly call: Call
  readonly sessionMetadata: ReturnType<typeof readSessionMetadata>
}

function toExtensionMethod(
  handleMethod: (methodRequest: SessionMethodRequest, sessionOptions: ResolvedSessionOptions) => Promise<JsonObject>,
  sessionOptions: ResolvedSessionOptions,
): ExtensionMethod {
  return async (request, call) => {
    try {
      rejectCancelledCall(call)
      return await handleMethod({ request, call, sessionMetadata: readSessionMetadata(request.params) }, sessionOptions)
    } catch (error) {
      // For a cancelled call, the server needs the original error as the reason.
      throw isCancelled(call) ? error : toPeerError(error, toSessionRequest(request, call, sessionOptions))
    }
  }
}

async function serveCreation(
  { request, call, sessionMetadata }: SessionMethodRequest,
  sessionOptions: ResolvedSessionOptions,
): Promise<JsonObject> {
  if (sessionMetadata !== undefined) throw createInvalidSessionError(`${sessionMethods.create} must not name a session`)
  const session = await createSealedSession(toSessionRequest(request, call, sessionOptions), call.signal)
  call.context.get(callHeadersKey)?.setResponseHeader?.(sessionHeader, session.sessionId)
  return { session }
}

/**
 * The session ends before `onDelete` runs, so that no call uses resources that are being freed. An error of `onDelete`
 * is logged and not sent to the client, because the session has ended.
 */
async function serveDeletion(
  { request, call, sessionMetadata }: SessionMethodRequest,
  sessionOptions: ResolvedSessionOptions,
): Promise<JsonObject> {
  const metadata = requireSessionMetadata(sessionMetadata, call)
  const sessionRequest = toSessionRequest(request, call, sessionOptions)
  const session = await openSession(metadata, { ...sessionRequest, needsState: false })
  const { id, principal, callerKey, expiresAt, state, report } = session
  const { registry } = sessionOptions
  const ended = registry.end(id, Math.max(1, expiresAt - sessionOptions.now()), callerKey)
  // The session can have ended all the same, if the answer of the store was lost, or the bus did not notify others. A
  // repeated deletion would then find no session, so this is the only call that can run `onDelete`.
  await ended.catch(async (error: unknown) => {
    if (await registry.isLive(id)) throw error
  })
  await sessionOptions.end({ id, principal, state }, report).catch(report)
  await ended
  return {}
}

const sessionMethodNames: ReadonlySet<string> = new Set(Object.values(sessionMethods))

function createSessionMiddleware(sessionOptions: ResolvedSessionOptions): Middleware {
  return (next) => (request, call) => {
    const sessionMetadata = sessionMethodNames.has(request.method) ? undefined : readSessionMetadata(request.params)
    return sessionMetadata === undefined
      ? next(request, call)
      : serveInSession({ request, call, sessionMetadata }, next, sessionOptions)
  }
}

async function serveInSession(
  { request, call, sessionMetadata }: SessionMethodRequest,
  next: Exchange,
  sessionOptions: ResolvedSessionOptions,
): Promise<RpcResponse> {
  const sessionRequest = toSessionRequest(request, call, sessionOptions)
  let session: OpenedSession | undefined
  try {
    rejectCancelledCall(call)
    const metadata = requireSessionMetadata(sessionMetadata, call)
    session = await openSession(metadata, { ...sessionRequest, needsState: true })
    call.context.get(callHeadersKey)?.setResponseHeader?.(sessionHeader, session.id)
    const response = await next(request, toSessionCall(call, session))
    return await finishSessionRequest(session, response)
  } catch (error) {
    if (session !== undefined) await session.abandon()
    if (isCancelled(call)) throw call.signal.reason
    return errorResponse(request.id, toPeerError(error, { ...sessionRequest, hasBegun: session !== undefined }))
  }
}

function toSessionCall(call: Call, session: OpenedSession): Call {
  const recordedParts = {
    ...call.context.get(recordedPartsKey),
    [recordedPartName]: () => session.record(),
  }
  const extendsResult = call.context.get(extendsResultKey)
  const hasNewState = (): boolean => extendsResult?.() === true || session.lastDraft !== undefined
  const sessionCall = withContext(withContext(call, openedSessionKey, session), recordedPartsKey, recordedParts)
  return withContext(sessionCall, extendsResultKey, hasNewState)
}

function rejectCancelledCall(call: Call): void {
  if (isCancelled(call)) throw call.signal.reason
}

function toSessionRequest({ method }: RpcRequest, call: Call, sessionOptions: ResolvedSessionOptions): SessionRequest {
  return {
    method,
    principal: call.principal,
    callerKey: callerKeyOf(call),
    sessionOptions,
    report: (error) => sessionOptions.log(errorRecord(error, { method })),
  }
}

/** Throws if the metadata is malformed, or differs from the header of the request. */
function requireSessionMetadata(
  sessionMetadata: SessionMethodRequest['sessionMetadata'],
  { context }: Call,
): SessionMetadata {
  if (sessionMetadata === undefined)
    throw createInvalidSessionError(`params._meta must name a session under ${sessionKey}`)
  if ('issue' in sessionMetadata)
    throw createInvalidSessionError(`params._meta["${sessionKey}"] ${sessionMetadata.issue}`)
  const headerSessionId = context.get(callHeadersKey)?.get(sessionHeader)
  if (headerSessionId === undefined || headerSessionId === sessionMetadata.sessionId) return sessionMetadata
  throw new McpError(errorCodes.headerMismatch, `${sessionHeader} does not repeat the sessionId of the body`)
}
