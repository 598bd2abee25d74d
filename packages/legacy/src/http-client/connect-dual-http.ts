import { abortReasonOf, type Clock, isCancelled, platformRuntime, raceWithCancellation } from '@x/core'
import {
  type Call,
  callingClientKey,
  encodeMessage,
  type Exchange,
  protocolVersion,
  type RpcError,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import { createHttpClient, type HttpClient, HttpError, isHttpError } from '@x/transport-http/client'
import { type ProtocolEra, eraOfRevision } from '../client/detect.ts'
import {
  answerBeforeHandshake,
  declaredCapabilitiesOf,
  initializedNotification,
  createInitializeRequest,
  parseInitializeResponse,
} from '../client/handshake.ts'
import { createLegacyExchange } from '../client/legacy-exchange.ts'
import {
  type DualConnection,
  type DualOptions,
  type DualPeer,
  type LegacySettings,
  resolveDualSettings,
} from '../client/options.ts'
import { createLegacySession, type LegacySession } from '../client/session.ts'
import { legacyRevisions } from '../revisions.ts'
import {
  createLegacyHttpTransport,
  type LegacyHttpTransport,
  type LegacyHttpTransportOptions,
  readRpcResponse,
} from './legacy-http-transport.ts'
import { type EraDetection, probeEra, withRequestTimeout } from './probe.ts'

/** The options of {@link connectDualHttp}: those of `connectHttp`, and what concerns older servers. */
export interface DualHttpOptions extends DualOptions, HttpOptions {}

/** The options of `connectHttp` on this platform. */
export type HttpOptions = NonNullable<Parameters<typeof createHttpClient>[1]>

const defaultMaxStreamBytes = 64 * 1024 * 1024
const sessionEndTimeoutMs = 2000

interface DualHttpState {
  readonly http: HttpClient
  readonly options: DualHttpOptions
  readonly settings: LegacySettings
  readonly clock: Clock
  readonly closeController: AbortController
  era: ProtocolEra | undefined
  /** The era was remembered or given, and nothing has shown yet that it is right. */
  isEraAssumed: boolean
  peer: DualPeer | undefined
  pendingDetection: Promise<EraDetection> | undefined
  /** The sessions by the headers of their requests, which say whose they are. */
  readonly sessions: Map<string, HttpSession>
}

interface HttpSession {
  readonly sessionPromise: Promise<LegacySession | RpcError>
  session?: LegacySession
  transport?: LegacyHttpTransport
}

/**
 * Connects over HTTP to a server of 2026-07-28, 2025-11-25, 2025-06-18 or 2025-03-26, whichever it speaks
 * (basic/versioning, backward compatibility). Calls, questions and subscriptions are the same for all. No byte is sent
 * before the first request.
 *
 * Throws a `TypeError` for an address that is not http or https. The exchange rejects with `HttpError` when no answer
 * could be had.
 *
 * @example
 * await using connection = connectDualHttp('https://example.com/mcp')
 * const client = createClient(connection.exchange, { name: 'host', version: '1.0.0', elicit })
 */
export function connectDualHttp(url: string | URL, options: DualHttpOptions = {}): DualConnection {
  const { runtime: clock = platformRuntime, era = 'probe' } = options
  const http = createHttpClient(url, options)
  const settings = resolveDualSettings(options)
  const state: DualHttpState = {
    http,
    options,
    settings,
    clock,
    closeController: new AbortController(),
    isEraAssumed: era === 'probe',
    era: era === 'probe' ? eraOfRevision(options.detectedRevisions?.get(http.url)) : era,
    peer: undefined,
    pendingDetection: undefined,
    sessions: new Map(),
  }
  if (state.era === 'modern') state.peer = { era: 'modern' }
  const sessionSource = {
    getSession: (request: RpcRequest, call: Call) => ensureSession(state, { request, call }),
    drop: (session: LegacySession) => {
      session.end()
      for (const [key, entry] of state.sessions) if (entry.session === session) state.sessions.delete(key)
    },
  }
  const legacyExchange = createLegacyExchange(sessionSource, settings, clock)
  const close = (): Promise<void> => closeConnection(state)
  return {
    exchange: (request, call) => dispatchRequest(state, legacyExchange, { request, call }),
    url: http.url,
    canMixPrincipals: typeof options.headers === 'function',
    closed: state.closeController.signal,
    get peer() {
      return state.peer
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

interface DispatchedRequest {
  readonly request: RpcRequest
  readonly call: Call
}

async function dispatchRequest(
  state: DualHttpState,
  legacyExchange: Exchange,
  { request, call }: DispatchedRequest,
): Promise<RpcResponse> {
  if (isCancelled(call)) throw abortReasonOf(call)
  state.closeController.signal.throwIfAborted()
  const detection = await raceWithCancellation(detectEra(state, request), call)
  if ('response' in detection) return { ...detection.response, id: request.id }
  if (detection.era === 'modern') return sendModernRequest(state, legacyExchange, { request, call })
  if (state.isEraAssumed && !(await raceWithCancellation(confirmAssumedEra(state, { request, call }), call))) {
    return dispatchRequest(state, legacyExchange, { request, call })
  }
  return legacyExchange(request, call)
}

function detectEra(state: DualHttpState, request: RpcRequest): Promise<EraDetection> {
  if (state.era !== undefined) return Promise.resolve({ era: state.era })
  state.pendingDetection ??= probeEra(state, request)
    .then((detection) => {
      if ('era' in detection) setEra(state, detection.era)
      return detection
    })
    .finally(() => {
      state.pendingDetection = undefined
    })
  return state.pendingDetection
}

function setEra(state: DualHttpState, era: ProtocolEra): void {
  state.era = era
  state.isEraAssumed = false
  if (era === 'legacy') return
  state.peer = { era }
  state.options.detectedRevisions?.set(state.http.url, protocolVersion)
}

/** Returns true when a server that is remembered as an older one still is one. Otherwise it is looked at anew. */
async function confirmAssumedEra(state: DualHttpState, dispatched: DispatchedRequest): Promise<boolean> {
  const session = await ensureSession(state, dispatched).catch(() => undefined)
  state.isEraAssumed = false
  if (session !== undefined && !('error' in session)) return true
  state.era = undefined
  state.sessions.clear()
  return false
}

// Error codes of servers of older revisions for requests without a session.
const sessionErrorCodes: ReadonlySet<number> = new Set([-32_000, -32_001])

async function sendModernRequest(
  state: DualHttpState,
  legacyExchange: Exchange,
  { request, call }: DispatchedRequest,
): Promise<RpcResponse> {
  let failure: unknown
  try {
    const response = await state.http.exchange(request, call)
    if (!('error' in response) || !sessionErrorCodes.has(response.error.code)) return response
    if (!(await hasBecomeLegacy(state, request, call))) return response
  } catch (error) {
    failure = error
    if (!isHttpError(error) || (error.status !== 400 && error.status !== 404)) throw error
    if (!(await hasBecomeLegacy(state, request, call))) throw failure
  }
  return legacyExchange(request, call)
}

/**
 * Looks at a server anew that was modern, and refused a request as one of an older revision would (basic/versioning).
 */
async function hasBecomeLegacy(state: DualHttpState, request: RpcRequest, call: Call): Promise<boolean> {
  if (state.options.era === 'modern') return false
  state.era = undefined
  const detection = await raceWithCancellation(detectEra(state, request), call)
  if ('era' in detection) return detection.era === 'legacy'
  setEra(state, 'modern')
  return false
}

/** The sessions that one connection keeps. Beyond them the one that was begun first ends. */
const maxSessions = 1000

/** Returns the session of the principal that a request is of (LDG-009: two principals never share one). */
async function ensureSession(state: DualHttpState, dispatched: DispatchedRequest): Promise<LegacySession | RpcError> {
  const { headers } = state.options
  const sessionKey =
    typeof headers === 'function' ? JSON.stringify(Object.entries(await headers(dispatched.request)).toSorted()) : ''
  const knownSession = state.sessions.get(sessionKey)
  if (knownSession !== undefined) return knownSession.sessionPromise
  const forgetSession = (): void => {
    if (state.sessions.get(sessionKey) !== httpSession) return
    state.sessions.delete(sessionKey)
    // The next call looks again, where this side may.
    if (state.options.era !== 'legacy') state.era = undefined
  }
  const sessionPromise = beginSession(state, dispatched).then(
    ({ transport, ...outcome }) => {
      if ('error' in outcome) forgetSession()
      else Object.assign(httpSession, { session: outcome.session, transport })
      return 'error' in outcome ? outcome.error : outcome.session
    },
    (error: unknown) => {
      forgetSession()
      throw error
    },
  )
  const httpSession: HttpSession = { sessionPromise }
  state.sessions.set(sessionKey, httpSession)
  endOldestSession(state)
  return sessionPromise
}

function endOldestSession(state: DualHttpState): void {
  const [oldestEntry] = state.sessions
  if (oldestEntry === undefined || state.sessions.size <= maxSessions) return
  const [key, httpSession] = oldestEntry
  state.sessions.delete(key)
  httpSession.session?.end()
  void endHttpSession(state, httpSession)
}

type BegunSession =
  | { readonly session: LegacySession; readonly transport: LegacyHttpTransport }
  | { readonly error: RpcError; readonly transport?: undefined }

/** The handshake (basic/lifecycle): `initialize`, and the notification that calls may follow. */
async function beginSession(state: DualHttpState, { request, call }: DispatchedRequest): Promise<BegunSession> {
  const { http, settings, clock } = state
  const initializeMessage = createInitializeRequest(request, 1)
  return withRequestTimeout(state, 'initialize', async (signal) => {
    const response = await http.send({
      method: 'POST',
      body: encodeMessage(initializeMessage),
      // The headers are those of the principal that the session is for.
      rpcRequest: request,
      signal,
    })
    const sessionId = response.header('mcp-session-id')
    const { maxStreamBytes = defaultMaxStreamBytes } = state.options
    const [revision] = legacyRevisions
    const transportOptions: LegacyHttpTransportOptions = {
      http,
      clock,
      revision,
      sessionId: undefined,
      maxStreamBytes,
      relatedRequest: request,
    }
    const onRequest = async (earlyRequest: RpcRequest): Promise<RpcResponse> => answerBeforeHandshake(earlyRequest)
    const handlers = { onNotification: () => {}, onRequest }
    const initializeResponse = await readRpcResponse(transportOptions, response, {
      request: initializeMessage,
      signal,
      handlers,
    }).catch(throwExplainedError)
    const initializeOutcome = parseInitializeResponse(initializeResponse)
    if ('error' in initializeOutcome) {
      await createLegacyHttpTransport({ ...transportOptions, sessionId })
        .end(signal)
        .catch(() => {})
      return { error: initializeOutcome.error }
    }
    const { peer } = initializeOutcome
    const legacyTransport = createLegacyHttpTransport({ ...transportOptions, revision: peer.revision, sessionId })
    await legacyTransport.notify(initializedNotification)
    state.peer = peer
    state.options.detectedRevisions?.set(http.url, peer.revision)
    const session = createLegacySession({
      peer,
      legacyTransport,
      clientCapabilities: declaredCapabilitiesOf(request),
      settings,
      client: call.context.get(callingClientKey),
    })
    return { session, transport: legacyTransport }
  })
}

function throwExplainedError(error: unknown): never {
  if (!isHttpError(error) || error.status === undefined || ![400, 404, 405].includes(error.status)) throw error
  const { status, excerpt, origin } = error
  const message =
    `${error.message}; it answered neither server/discover nor initialize: if it is a server of HTTP+SSE (2024-11-05), ` +
    'that transport is not supported'
  throw new HttpError('status', message, { origin, status, excerpt, cause: error })
}

async function closeConnection(state: DualHttpState): Promise<void> {
  const { http, closeController } = state
  if (!closeController.signal.aborted) {
    const { origin } = new URL(http.url)
    closeController.abort(new HttpError('closed', 'the connection was closed here', { origin }))
    await Promise.all(Array.from(state.sessions.values(), (httpSession) => endHttpSession(state, httpSession)))
  }
  await http.close()
}

async function endHttpSession({ http, clock }: DualHttpState, { transport }: HttpSession): Promise<void> {
  if (transport === undefined) return
  const settings = { handshakeTimeoutMs: sessionEndTimeoutMs }
  await withRequestTimeout({ http, clock, settings }, 'DELETE', transport.end).catch(() => {})
}
