import { abortReasonOf, isCancelled, errorRecord } from '@x/core'
import {
  type Call,
  callerKeyOf,
  callHeadersKey,
  type ContextKey,
  errorCodes,
  errorResponse,
  type Exchange,
  extendsResultKey,
  type ExtensionHost,
  type ExtensionInstance,
  type ExtensionMethod,
  type JsonObject,
  McpError,
  type Middleware,
  recordedPartsKey,
  type RpcRequest,
  type RpcResponse,
  withContext,
} from '@x/schema'
import { readSessionMetadata, type SessionMetadata, type SessionNames } from '../session-metadata.ts'
import { createSealedSession } from './create-session.ts'
import { abandonSession, finishSessionRequest } from './end-session.ts'
import {
  type OpenedSession,
  createOpenedSessionKey,
  findLastDraft,
  openSession,
  recordedPartNameOf,
  recordSession,
  type SessionRequest,
} from './opened-session.ts'
import type { ResolvedSessionOptions } from './resolved-session-options.ts'
import { createInvalidSessionError, toPeerError } from './session-errors.ts'

/** The parts that sessions are served with at one server. */
export interface SessionServiceOptions {
  readonly names: SessionNames
  readonly sessionOptions: ResolvedSessionOptions
  readonly host: Pick<ExtensionHost, 'log'>
}

interface SessionService extends Omit<SessionServiceOptions, 'host'> {
  readonly key: ContextKey<OpenedSession>
  readonly report: (error: unknown, errorContext: { readonly method: string }) => void
}

/**
 * Serves the methods that create and delete sessions, and opens the session of every other request that names one (seed
 * data-layer-sessions). Handlers find it in the call's context. The result names it. Requests without a session pass
 * unchanged.
 */
export function serveSessions({
  names,
  sessionOptions,
  host,
}: SessionServiceOptions): Pick<ExtensionInstance, 'methods' | 'middleware'> {
  const report = sessionOptions.report ?? ((error, { method }) => host.log(errorRecord(error, { method })))
  const service: SessionService = { names, sessionOptions, key: createOpenedSessionKey(names.name), report }
  const { create, delete: deleteMethod } = names.methods
  return {
    methods: {
      [create]: toExtensionMethod(serveCreation, service),
      [deleteMethod]: toExtensionMethod(serveDeletion, service),
    },
    middleware: createSessionMiddleware(service),
  }
}

/** A request of the extension's own methods. */
interface SessionMethodRequest {
  readonly request: RpcRequest
  readonly call: Call
  readonly sessionMetadata: ReturnType<typeof readSessionMetadata>
}

type SessionMethodHandler = (methodRequest: SessionMethodRequest, service: SessionService) => Promise<JsonObject>

function toExtensionMethod(handleMethod: SessionMethodHandler, service: SessionService): ExtensionMethod {
  return async (request, call) => {
    try {
      rejectCancelledCall(call)
      return await handleMethod(
        { request, call, sessionMetadata: readSessionMetadata(request.params, service.names.metaKey) },
        service,
      )
    } catch (error) {
      // The server rejects a cancelled call with its reason.
      throw isCancelled(call) ? error : toPeerError(error, toSessionRequest({ request, call }, service))
    }
  }
}

async function serveCreation(
  { request, call, sessionMetadata }: SessionMethodRequest,
  service: SessionService,
): Promise<JsonObject> {
  const { methods, header } = service.names
  if (sessionMetadata !== undefined) throw createInvalidSessionError(`${methods.create} must not name a session`)
  const session = await createSealedSession(toSessionRequest({ request, call }, service), call.signal)
  call.context.get(callHeadersKey)?.setResponseHeader?.(header, session.sessionId)
  return { session }
}

async function serveDeletion(
  { request, call, sessionMetadata }: SessionMethodRequest,
  service: SessionService,
): Promise<JsonObject> {
  await deleteSession(
    requireSessionMetadata(sessionMetadata, call, service.names),
    toSessionRequest({ request, call }, service),
  )
  return {}
}

/** Opens the session that a request names, and lets the result name it. */
function createSessionMiddleware(service: SessionService): Middleware {
  const { metaKey, methods } = service.names
  const sessionMethodNames = new Set<string>([methods.create, methods.delete])
  return (next) => (request, call) => {
    const sessionMetadata = sessionMethodNames.has(request.method)
      ? undefined
      : readSessionMetadata(request.params, metaKey)
    return sessionMetadata === undefined
      ? next(request, call)
      : serveInSession({ request, call, sessionMetadata }, next, service)
  }
}

async function serveInSession(
  { request, call, sessionMetadata }: SessionMethodRequest,
  next: Exchange,
  service: SessionService,
): Promise<RpcResponse> {
  const sessionRequest = toSessionRequest({ request, call }, service)
  let session: OpenedSession | undefined
  try {
    rejectCancelledCall(call)
    const metadata = requireSessionMetadata(sessionMetadata, call, service.names)
    session = await openSession(metadata, { ...sessionRequest, needsState: true })
    call.context.get(callHeadersKey)?.setResponseHeader?.(service.names.header, session.id)
    const response = await next(request, toSessionCall(call, session, service))
    return await finishSessionRequest(session, response, service.names.metaKey)
  } catch (error) {
    if (session !== undefined) await abandonSession(session)
    if (isCancelled(call)) throw abortReasonOf(call)
    return errorResponse(request.id, toPeerError(error, { ...sessionRequest, hasBegun: session !== undefined }))
  }
}

/** Returns a call with its session, which is recorded where the call becomes a task. */
function toSessionCall(call: Call, session: OpenedSession, { key, names }: SessionService): Call {
  const recordedParts = {
    ...call.context.get(recordedPartsKey),
    [recordedPartNameOf(names.name)]: () => recordSession(session),
  }
  const extendsResult = call.context.get(extendsResultKey)
  const hasNewState = (): boolean => extendsResult?.() === true || findLastDraft(session) !== undefined
  const sessionCall = withContext(withContext(call, key, session), recordedPartsKey, recordedParts)
  return withContext(sessionCall, extendsResultKey, hasNewState)
}

function rejectCancelledCall(call: Call): void {
  if (isCancelled(call)) throw abortReasonOf(call)
}

function toSessionRequest(
  { request, call }: Pick<SessionMethodRequest, 'request' | 'call'>,
  { sessionOptions, report }: SessionService,
): SessionRequest {
  const { method } = request
  return {
    method,
    principal: call.principal,
    callerKey: callerKeyOf(call),
    sessionOptions,
    report: (error) => report(error, { method }),
  }
}

/** Returns the session that is named, once it is well-formed and equal to the header, where there is one. */
function requireSessionMetadata(
  sessionMetadata: SessionMethodRequest['sessionMetadata'],
  { context }: Call,
  { metaKey, header }: SessionNames,
): SessionMetadata {
  if (sessionMetadata === undefined)
    throw createInvalidSessionError(`params._meta must name a session under ${metaKey}`)
  if ('issue' in sessionMetadata) throw createInvalidSessionError(`params._meta["${metaKey}"] ${sessionMetadata.issue}`)
  const headerSessionId = context.get(callHeadersKey)?.get(header)
  if (headerSessionId === undefined || headerSessionId === sessionMetadata.sessionId) return sessionMetadata
  throw new McpError(errorCodes.headerMismatch, `${header} does not repeat the sessionId of the body`)
}

/**
 * Deletes a session. It ends before `onDelete` runs, so that no call uses resources that are being freed. An error of
 * `onDelete` is reported and not answered: for the client the session has ended.
 */
async function deleteSession(metadata: SessionMetadata, request: SessionRequest): Promise<void> {
  const { id, principal, callerKey, expiresAt, state, sessionOptions, report } = await openSession(metadata, {
    ...request,
    needsState: false,
  })
  await sessionOptions.registry.end(id, Math.max(1, expiresAt - sessionOptions.now()), callerKey)
  try {
    await sessionOptions.end({ id, principal, state }, report)
  } catch (error) {
    report(error)
  }
}
