import { type Clock, randomId, raceWithCancellation } from '@x/core'
import { type Call, callerKeyOf, clientSessionKey } from '@x/exchange'
import {
  errorCodes,
  errorResponse,
  findMethodRow,
  isJsonObject,
  type LoggingLevel,
  McpError,
  metaKeys,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import { metaIn, severityOf } from '@x/schema/internal'
import type { LegacySettings } from '../options.ts'
import { CallRun } from './call-run.ts'
import { createDiscoverResult, findUnsentMethodError } from './capabilities.ts'
import { StandaloneStream } from './listen.ts'
import { isLegacyError } from './legacy-error.ts'
import type { LegacySession } from './session.ts'
import { createUnknownStateResponse } from './translate.ts'

/** The calls of one connection, each in a session with an older server. */
export class SessionCalls {
  readonly #settings: LegacySettings
  readonly #clock: Clock
  // Bounded by the calls of the client that run.
  readonly #runs = new Map<string, CallRun>()
  readonly #standaloneStreams = new WeakMap<LegacySession, StandaloneStream>()

  constructor(settings: LegacySettings, clock: Clock) {
    this.#settings = settings
    this.#clock = clock
  }

  /** Passes a request with answers to the call that waits for them. Undefined if none does. */
  resume(request: RpcRequest, call: Call): Promise<RpcResponse> | undefined {
    const requestState = request.params?.['requestState']
    const run = typeof requestState === 'string' ? this.#runs.get(requestState) : undefined
    // Another user's state is an unknown one.
    if (run !== undefined && run.user !== userOf(request, call))
      return Promise.resolve(createUnknownStateResponse(request.id))
    return run?.sendNextRequest(request, call).catch((error: unknown) => {
      if (isLegacyError(error, 'session_ended')) return createUnknownStateResponse(request.id)
      throw error
    })
  }

  /**
   * Serves a request over a session. Rejects with {@link LegacyError} `session_ended` if the server has not run the
   * request.
   */
  async serve(session: LegacySession, request: RpcRequest, call: Call): Promise<RpcResponse> {
    const { id, method, params } = request
    if (session.user !== userOf(request, call)) return createSecondUserResponse(request)
    if (typeof params?.['requestState'] === 'string') return createUnknownStateResponse(id)
    if (method === 'server/discover') return { jsonrpc: '2.0', id, result: createDiscoverResult(session.peer) }
    if (method === 'subscriptions/listen') return this.#standaloneStreamOf(session).listen(request, call)
    const unsentError = findUnsentMethodError(request, session.peer)
    if (unsentError !== undefined) return unsentError
    const level = logLevelOf(request)
    if (level !== undefined) await raceWithCancellation(session.setLevel(level), call)
    if (findMethodRow(method)?.canRequireInput === true)
      await raceWithCancellation(this.#standaloneStreamOf(session).prepareForQuestions(), call)
    const requestState = randomId()
    const run = new CallRun({
      session,
      settings: this.#settings,
      clock: this.#clock,
      requestState,
      onFinished: () => this.#runs.delete(requestState),
    })
    this.#runs.set(requestState, run)
    return run.sendNextRequest(request, call)
  }

  #standaloneStreamOf(session: LegacySession): StandaloneStream {
    const known = this.#standaloneStreams.get(session)
    const standaloneStream = known ?? new StandaloneStream(session, this.#settings, this.#clock)
    this.#standaloneStreams.set(session, standaloneStream)
    return standaloneStream
  }
}

/**
 * Tells users apart by caller, session and client name. An older server has one handshake and one set of questions on a
 * connection, so it cannot do that itself.
 */
export function userOf(request: RpcRequest, call: Call): string {
  const info = metaIn(request.params)[metaKeys.clientInfo]
  const clientName = isJsonObject(info) ? info['name'] : undefined
  return JSON.stringify([callerKeyOf(call), call.context.get(clientSessionKey), clientName])
}

function createSecondUserResponse({ id }: RpcRequest): RpcResponse {
  const message =
    'This connection to a server of an older revision serves another user: open a connection for each user'
  return errorResponse(id, new McpError(errorCodes.invalidRequest, message))
}

function logLevelOf({ params }: RpcRequest): LoggingLevel | undefined {
  const level = metaIn(params)[metaKeys.logLevel]
  // `severityOf` returns -1 for each value that is not a `LoggingLevel`.
  return severityOf(level) === -1 ? undefined : (level as LoggingLevel)
}
