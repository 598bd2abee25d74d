import { abortReasonOf, type Clock, isCancelled, randomId, raceWithCancellation } from '@x/core'
import {
  type Call,
  type Exchange,
  type LoggingLevel,
  metaKeys,
  findMethodRow,
  type RpcError,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import { metaIn } from '../translate/request.ts'
import { type CallRun, createCallRun } from './call-run.ts'
import { createDiscoverResult, findUnsupportedMethodError } from './handshake.ts'
import { createStandaloneStream, type StandaloneStream } from './listen.ts'
import type { LegacySettings } from './options.ts'
import { type LegacySession, severityOf, SessionEndedError } from './session.ts'
import { createUnknownStateResponse } from './translate.ts'

/** Access of a connection's calls to their session. */
export interface SessionSource {
  /** Gives the session, begun as the client of this request, or the error with which the server refused one. */
  getSession(request: RpcRequest, call: Call): Promise<LegacySession | RpcError>
  /** Forgets a session that the server does not know any more. */
  drop(session: LegacySession): void
}

interface ExchangeState {
  readonly sessionSource: SessionSource
  readonly settings: LegacySettings
  readonly clock: Clock
  readonly runs: Map<string, CallRun>
  readonly standaloneStreams: WeakMap<LegacySession, StandaloneStream>
}

/** Makes an exchange of 2026-07-28 out of sessions with an older server. */
export function createLegacyExchange(sessionSource: SessionSource, settings: LegacySettings, clock: Clock): Exchange {
  const exchangeState: ExchangeState = {
    sessionSource,
    settings,
    clock,
    runs: new Map(),
    standaloneStreams: new WeakMap(),
  }
  return async (request, call) => {
    if (isCancelled(call)) throw abortReasonOf(call)
    const requestState = request.params?.['requestState']
    if (typeof requestState === 'string') return resumeLegacyRun(exchangeState, requestState, { request, call })
    const session = await raceWithCancellation(sessionSource.getSession(request, call), call)
    if ('error' in session) return { ...session, id: request.id }
    try {
      return await serveLegacyRequest(exchangeState, session, { request, call })
    } catch (error) {
      if (!(error instanceof SessionEndedError)) throw error
      // basic/transports, session management: the server has done nothing, so the request may be sent in a new session.
      sessionSource.drop(session)
      const newSession = await raceWithCancellation(sessionSource.getSession(request, call), call)
      return 'error' in newSession
        ? { ...newSession, id: request.id }
        : serveLegacyRequest(exchangeState, newSession, { request, call })
    }
  }
}

async function resumeLegacyRun(
  { runs }: ExchangeState,
  requestState: string,
  { request, call }: ForwardedRequest,
): Promise<RpcResponse> {
  try {
    return (await runs.get(requestState)?.sendNextRequest(request, call)) ?? createUnknownStateResponse(request.id)
  } catch (error) {
    if (error instanceof SessionEndedError) return createUnknownStateResponse(request.id)
    throw error
  }
}

interface ForwardedRequest {
  readonly request: RpcRequest
  readonly call: Call
}

async function serveLegacyRequest(
  exchangeState: ExchangeState,
  session: LegacySession,
  { request, call }: ForwardedRequest,
): Promise<RpcResponse> {
  const { id, method } = request
  if (method === 'server/discover') return { jsonrpc: '2.0', id, result: createDiscoverResult(session.peer) }
  if (method === 'subscriptions/listen') return getStandaloneStream(exchangeState, session).listen(request, call)
  const unsupportedError = findUnsupportedMethodError(request, session.peer)
  if (unsupportedError !== undefined) return unsupportedError
  const level = logLevelOf(request)
  if (level !== undefined) await raceWithCancellation(session.setLevel(level), call)
  if (findMethodRow(method)?.canRequireInput === true)
    await raceWithCancellation(getStandaloneStream(exchangeState, session).prepareForQuestions(), call)
  const requestState = randomId()
  const { settings, clock, runs } = exchangeState
  const run = createCallRun({ session, settings, clock, requestState, onFinished: () => runs.delete(requestState) })
  runs.set(requestState, run)
  return run.sendNextRequest(request, call)
}

function getStandaloneStream(
  { standaloneStreams, settings, clock }: ExchangeState,
  session: LegacySession,
): StandaloneStream {
  const standaloneStream = standaloneStreams.get(session) ?? createStandaloneStream(session, settings, clock)
  standaloneStreams.set(session, standaloneStream)
  return standaloneStream
}

function logLevelOf({ params }: RpcRequest): LoggingLevel | undefined {
  const level = metaIn(params)[metaKeys.logLevel]
  // The check accepts the members of the type alone.
  return severityOf(level) === -1 ? undefined : (level as LoggingLevel)
}
