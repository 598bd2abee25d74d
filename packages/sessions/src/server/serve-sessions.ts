import {
  type Call,
  callerOf,
  callHeadersKey,
  cancelReason,
  type ContextKey,
  errorCodes,
  errorResponse,
  type Exchange,
  type ExtensionHost,
  type ExtensionInstance,
  type ExtensionMethod,
  isCancelled,
  type JsonObject,
  McpError,
  type Middleware,
  recordedPartsKey,
  type RpcRequest,
  type RpcResponse,
  withContext,
} from '@x/schema'
import { sessionIn, type SessionMetadata, type SessionNames } from '../session-metadata.ts'
import { createSealedSession } from './create-session.ts'
import { deleteSession } from './delete-session.ts'
import { abandonSession, finishSessionRequest } from './end-session.ts'
import {
  openedSessionKey,
  type OpenedSession,
  openSession,
  recordedName,
  recordSession,
  type SessionRequest,
} from './opened-session.ts'
import type { SessionRules } from './session-rules.ts'
import { invalidSession, toPeerError } from './session-not-found.ts'

/** The parts that sessions are served with at one server. */
export interface ServingParts {
  readonly names: SessionNames
  readonly rules: SessionRules
  readonly host: Pick<ExtensionHost, 'report'>
}

interface Serving extends Omit<ServingParts, 'host'> {
  readonly key: ContextKey<OpenedSession>
  readonly report: (error: unknown, where: { readonly method: string }) => void
}

/**
 * Serves the methods that create and delete sessions, and opens the session of every other request that names one (seed
 * data-layer-sessions). Handlers find it in the call's context; the result names it. Requests without a session pass unchanged.
 */
export function serveSessions({ names, rules, host }: ServingParts): Pick<ExtensionInstance, 'methods' | 'middleware'> {
  const report = rules.report ?? ((error: unknown) => host.report(error))
  const serving: Serving = { names, rules, key: openedSessionKey(names.name), report }
  const { create, delete: remove } = names.methods
  return {
    methods: { [create]: methodOf(serveCreate, serving), [remove]: methodOf(serveDeletion, serving) },
    middleware: createSessionMiddleware(serving),
  }
}

/** A request of the extension's own methods. */
interface SessionMethodRequest {
  readonly request: RpcRequest
  readonly call: Call
  readonly named: ReturnType<typeof sessionIn>
}

type Serve = (asked: SessionMethodRequest, serving: Serving) => Promise<JsonObject>

function methodOf(serve: Serve, serving: Serving): ExtensionMethod {
  return async (request, call) => {
    try {
      rejectCancelled(call)
      return await serve({ request, call, named: sessionIn(request.params, serving.names.key) }, serving)
    } catch (error) {
      // The server rejects a cancelled call with its reason.
      throw isCancelled(call) ? error : toPeerError(error, requestInSession({ request, call }, serving))
    }
  }
}

async function serveCreate({ request, call, named }: SessionMethodRequest, serving: Serving): Promise<JsonObject> {
  const { methods, header } = serving.names
  if (named !== undefined) throw invalidSession(`${methods.create} must not name a session`)
  const session = await createSealedSession(requestInSession({ request, call }, serving), call.signal)
  call.context.get(callHeadersKey)?.answer?.(header, session.sessionId)
  return { session }
}

async function serveDeletion({ request, call, named }: SessionMethodRequest, serving: Serving): Promise<JsonObject> {
  await deleteSession(checkedMetadata(named, call, serving.names), requestInSession({ request, call }, serving))
  return {}
}

/** Opens the session that a request names, and lets the result name it. */
function createSessionMiddleware(serving: Serving): Middleware {
  const { key, methods } = serving.names
  const own = new Set<string>([methods.create, methods.delete])
  return (next) => (request, call) => {
    const named = own.has(request.method) ? undefined : sessionIn(request.params, key)
    return named === undefined ? next(request, call) : serveInSession({ request, call, named }, next, serving)
  }
}

async function serveInSession(
  { request, call, named }: SessionMethodRequest,
  next: Exchange,
  serving: Serving,
): Promise<RpcResponse> {
  const sessionRequest = requestInSession({ request, call }, serving)
  let session: OpenedSession | undefined
  try {
    rejectCancelled(call)
    const metadata = checkedMetadata(named, call, serving.names)
    session = await openSession(metadata, { ...sessionRequest, needsState: true })
    call.context.get(callHeadersKey)?.answer?.(serving.names.header, session.id)
    const response = await next(request, withinSession(call, session, serving))
    return await finishSessionRequest(session, response, serving.names.key)
  } catch (error) {
    if (session !== undefined) await abandonSession(session)
    if (isCancelled(call)) throw cancelReason(call)
    return errorResponse(request.id, toPeerError(error, sessionRequest))
  }
}

/** Returns a call with its session, which is recorded where the call becomes a task. */
function withinSession(call: Call, session: OpenedSession, { key, names }: Serving): Call {
  const parts = { ...call.context.get(recordedPartsKey), [recordedName(names.name)]: () => recordSession(session) }
  return withContext(withContext(call, key, session), recordedPartsKey, parts)
}

function rejectCancelled(call: Call): void {
  if (isCancelled(call)) throw cancelReason(call)
}

function requestInSession(
  { request, call }: Pick<SessionMethodRequest, 'request' | 'call'>,
  { rules, report }: Serving,
): SessionRequest {
  const { method } = request
  return {
    method,
    principal: call.principal,
    caller: callerOf(call),
    rules,
    report: (error) => report(error, { method }),
  }
}

/** Returns the session that is named, once it is well-formed and equal to the header, where there is one. */
function checkedMetadata(
  named: SessionMethodRequest['named'],
  { context }: Call,
  { key, header }: SessionNames,
): SessionMetadata {
  if (named === undefined) throw invalidSession(`params._meta must name a session under ${key}`)
  if ('issue' in named) throw invalidSession(`params._meta["${key}"] ${named.issue}`)
  const repeated = context.get(callHeadersKey)?.get(header)
  if (repeated === undefined || repeated === named.sessionId) return named
  throw new McpError(errorCodes.headerMismatch, `${header} does not repeat the sessionId of the body`)
}
