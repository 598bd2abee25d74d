import {
  type Call,
  errorCodes,
  type Exchange,
  extendCall,
  type JsonObject,
  McpError,
  type RpcRequest,
  type RpcResponse,
  type RpcResult,
  withCapabilities,
  wrapExchange,
} from '@x/schema'
import { sessionHeader, sessionIn, sessionKey, type SessionMetadata, sessionMethods } from '../session-metadata.ts'
import { createSession } from './create-session.ts'
import { deleteSession } from './delete-session.ts'
import { beginRun, openSession, type SessionRequest } from './opened-session.ts'
import { invalidSession, refuse } from './refusal.ts'
import type { SessionRules } from './session-rules.ts'
import { abandon, settleSession } from './settle-session.ts'

/**
 * Puts sessions around a server: it declares the capability, serves `sessions/create` and `sessions/delete`, gives handlers the session
 * of their call, and answers with what the session became (seed data-layer-sessions). Requests without a session pass as they are.
 *
 * @example
 * const server = withSessions(createServer({ name: 'demo', version: '1.0.0', tools: [count] }), sessions)
 */
export function withSessions<E extends Exchange>(exchange: E, { rules }: { readonly rules: SessionRules }): E {
  const server = withCapabilities(exchange, { sessions: {} })
  const serving = new Map<string, Serve>([
    [sessionMethods.create, serveCreate],
    [sessionMethods.delete, serveDelete],
  ])
  return wrapExchange(server, (request, call) => {
    const session = sessionIn(request.params)
    const serve = serving.get(request.method) ?? (session === undefined ? undefined : serveWithin)
    return serve === undefined ? server(request, call) : answer({ request, call, session }, { server, rules, serve })
  })
}

/** A request that is the business of sessions. */
interface Asked {
  readonly request: RpcRequest
  readonly call: Call
  readonly session: ReturnType<typeof sessionIn>
}

interface Serving {
  readonly server: Exchange
  readonly rules: SessionRules
}

type Serve = (asked: Asked, serving: Serving) => Promise<RpcResponse>

async function answer(asked: Asked, { serve, ...serving }: Serving & { readonly serve: Serve }): Promise<RpcResponse> {
  const { request, call } = asked
  try {
    call.signal.throwIfAborted()
    return await serve(asked, serving)
  } catch (error) {
    if (call.signal.aborted) throw call.signal.reason
    return refuse(error, request, serving.rules)
  }
}

/** Every other request, within the session that it names. */
async function serveWithin({ request, call, session: named }: Asked, { server, rules }: Serving): Promise<RpcResponse> {
  const metadata = metadataOf(named, call)
  const session = await openSession(metadata, requestOf({ request, call }, rules))
  call.headers?.().answer?.(sessionHeader, session.id)
  try {
    const response = await server(
      request,
      extendCall(call, sessionKey, () => beginRun(session)),
    )
    return await settleSession(session, response)
  } catch (error) {
    await abandon(session)
    throw error
  }
}

async function serveCreate({ request, call, session }: Asked, { server, rules }: Serving): Promise<RpcResponse> {
  const envelope = await judge(request, call, server)
  if ('error' in envelope) return envelope
  if (session !== undefined) throw invalidSession(`${sessionMethods.create} must not name a session`)
  const created = await createSession(requestOf({ request, call }, rules), call.signal)
  call.headers?.().answer?.(sessionHeader, created.sessionId)
  return resultOf(envelope, { session: created })
}

async function serveDelete({ request, call, session }: Asked, { server, rules }: Serving): Promise<RpcResponse> {
  const envelope = await judge(request, call, server)
  if ('error' in envelope) return envelope
  const metadata = metadataOf(session, call)
  await deleteSession(metadata, requestOf({ request, call }, rules))
  return resultOf(envelope, {})
}

/**
 * What the server inside says of a request's own description of itself. Which revisions are served, and what is wrong with a request,
 * is for it to decide: it is asked as if for its discovery, whose `_meta` every result has.
 */
async function judge({ id, params }: RpcRequest, call: Call, server: Exchange): Promise<RpcResponse> {
  const { _meta } = params ?? {}
  const discovering = {
    jsonrpc: '2.0',
    id,
    method: 'server/discover',
    params: _meta === undefined ? {} : { _meta },
  } as const
  return server(discovering, call)
}

function resultOf({ id, result: { _meta } }: RpcResult, own: JsonObject): RpcResult {
  const result = { resultType: 'complete', ...own, ...(_meta !== undefined && { _meta }) }
  return { jsonrpc: '2.0', id, result }
}

function requestOf({ request, call }: Pick<Asked, 'request' | 'call'>, rules: SessionRules): SessionRequest {
  return { method: request.method, principal: call.principal, rules }
}

/** The session that is named, if it is named well, and the header says the same where there is one. */
function metadataOf(session: Asked['session'], { headers }: Call): SessionMetadata {
  if (session === undefined) throw invalidSession(`params._meta must name a session under ${sessionKey}`)
  if ('issue' in session) throw invalidSession(`params._meta["${sessionKey}"] ${session.issue}`)
  const header = headers?.().get(sessionHeader)
  if (header === undefined || header === session.sessionId) return session
  throw new McpError(errorCodes.headerMismatch, `${sessionHeader} does not repeat the sessionId of the body`)
}
