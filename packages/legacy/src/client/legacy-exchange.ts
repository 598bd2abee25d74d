import {
  cancelReason,
  type Call,
  type Clock,
  type Exchange,
  isCancelled,
  type LoggingLevel,
  metaKeys,
  methodRow,
  type RpcError,
  type RpcRequest,
  type RpcResponse,
  unlessCancelled,
} from '@x/schema'
import { randomId } from '../server/random-id.ts'
import { metaIn } from '../translate/request.ts'
import { type CallRun, createRun } from './call-run.ts'
import { discoverResult, unservedError } from './handshake.ts'
import { createOutsideStream, type OutsideStream } from './listen.ts'
import type { LegacySettings } from './options.ts'
import { type LegacySession, severityOf } from './session.ts'
import { unknownState } from './translate.ts'
import { SessionEndedError } from './wire.ts'

/** Access of a connection's calls to their session. */
export interface SessionSource {
  /** Gives the session, begun as the client of this request; or the error with which the server refused one. */
  current(request: RpcRequest): Promise<LegacySession | RpcError>
  /** Forgets a session that the server does not know any more. */
  drop(session: LegacySession): void
}

interface LegacyClient {
  readonly sessions: SessionSource
  readonly settings: LegacySettings
  readonly clock: Clock
  readonly runs: Map<string, CallRun>
  readonly outside: WeakMap<LegacySession, OutsideStream>
}

/** Makes an exchange of 2026-07-28 out of sessions with an older server. */
export function createLegacyExchange(sessions: SessionSource, settings: LegacySettings, clock: Clock): Exchange {
  const client: LegacyClient = { sessions, settings, clock, runs: new Map(), outside: new WeakMap() }
  return async (request, call) => {
    if (isCancelled(call)) throw cancelReason(call)
    const state = request.params?.['requestState']
    if (typeof state === 'string') return resumeLegacyRun(client, state, { request, call })
    const session = await unlessCancelled(sessions.current(request), call)
    if ('error' in session) return { ...session, id: request.id }
    try {
      return await serveLegacy(client, session, { request, call })
    } catch (error) {
      if (!(error instanceof SessionEndedError)) throw error
      // basic/transports, session management: the server has done nothing, so the request may be sent in a new session.
      sessions.drop(session)
      const fresh = await unlessCancelled(sessions.current(request), call)
      return 'error' in fresh ? { ...fresh, id: request.id } : serveLegacy(client, fresh, { request, call })
    }
  }
}

async function resumeLegacyRun(
  { runs }: LegacyClient,
  state: string,
  { request, call }: ForwardedRequest,
): Promise<RpcResponse> {
  try {
    return (await runs.get(state)?.next(request, call)) ?? unknownState(request.id)
  } catch (error) {
    if (error instanceof SessionEndedError) return unknownState(request.id)
    throw error
  }
}

interface ForwardedRequest {
  readonly request: RpcRequest
  readonly call: Call
}

async function serveLegacy(
  client: LegacyClient,
  session: LegacySession,
  { request, call }: ForwardedRequest,
): Promise<RpcResponse> {
  const { id, method } = request
  if (method === 'server/discover') return { jsonrpc: '2.0', id, result: discoverResult(session.peer) }
  if (method === 'subscriptions/listen') return outsideOf(client, session).listen(request, call)
  const unserved = unservedError(request, session.peer)
  if (unserved !== undefined) return unserved
  const level = logLevelOf(request)
  if (level !== undefined) await unlessCancelled(session.setLevel(level), call)
  if (methodRow(method)?.asks === true) await unlessCancelled(outsideOf(client, session).prepareForQuestions(), call)
  const token = randomId()
  const { settings, clock, runs } = client
  const run = createRun({ session, settings, clock, token, onOver: () => runs.delete(token) })
  runs.set(token, run)
  return run.next(request, call)
}

function outsideOf({ outside, settings, clock }: LegacyClient, session: LegacySession): OutsideStream {
  const known = outside.get(session) ?? createOutsideStream(session, settings, clock)
  outside.set(session, known)
  return known
}

function logLevelOf({ params }: RpcRequest): LoggingLevel | undefined {
  const level = metaIn(params)[metaKeys.logLevel]
  // The check accepts the members of the type alone.
  return severityOf(level) === -1 ? undefined : (level as LoggingLevel)
}
