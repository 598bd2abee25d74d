import {
  type Call,
  cancelReason,
  type Clock,
  encodeMessage,
  type Exchange,
  isCancelled,
  platformClock,
  protocolVersion,
  type RpcError,
  type RpcRequest,
  type RpcResponse,
  unlessCancelled,
} from '@x/schema'
import { createHttpClient, type HttpClient, HttpError, isHttpError } from '@x/transport-http/client'
import { type ProtocolEra, eraOfRevision } from '../client/detect.ts'
import {
  answerBeforeHandshake,
  declaredIn,
  initialized,
  initializeRequest,
  readInitialize,
} from '../client/handshake.ts'
import { createLegacyExchange } from '../client/legacy-exchange.ts'
import {
  type DualConnection,
  type DualOptions,
  type DualPeer,
  type LegacySettings,
  dualSettings,
} from '../client/options.ts'
import { createSession, type LegacySession } from '../client/session.ts'
import { legacyRevisions } from '../revisions.ts'
import { createHttpWire, type HttpWire, type HttpWireParts, readAnswer } from './http-wire.ts'
import { type Detection, probe } from './probe.ts'
import { withRequestTimeout } from './with-limit.ts'

/** The options of {@link connectDualHttp}: those of `connectHttp`, and what concerns older servers. */
export interface DualHttpOptions extends DualOptions, HttpOptions {}

/** The options of `connectHttp` on this platform. */
export type HttpOptions = NonNullable<Parameters<typeof createHttpClient>[1]>

const streamBytes = 64 * 1024 * 1024
const endMs = 2000

interface State {
  readonly http: HttpClient
  readonly options: DualHttpOptions
  readonly settings: LegacySettings
  readonly clock: Clock
  readonly closing: AbortController
  era: ProtocolEra | undefined
  /** The era was remembered or given, and nothing has shown yet that it is right. */
  isAssumed: boolean
  peer: DualPeer | undefined
  detecting: Promise<Detection> | undefined
  session: Promise<LegacySession | RpcError> | undefined
  wire: HttpWire | undefined
}

/**
 * Connects over HTTP to a server of 2026-07-28, 2025-11-25, 2025-06-18 or 2025-03-26, whichever it speaks (basic/versioning, backward
 * compatibility). Calls, questions and subscriptions are the same for all. No byte is sent before the first request.
 *
 * Throws a `TypeError` for an address that is not http or https. The exchange rejects with `HttpError` when no answer could be had.
 *
 * @example
 * await using connection = connectDualHttp('https://example.com/mcp')
 * const client = createClient(connection.exchange, { name: 'host', version: '1.0.0', elicit })
 */
export function connectDualHttp(url: string | URL, options: DualHttpOptions = {}): DualConnection {
  const { clock = platformClock, era = 'probe' } = options
  const http = createHttpClient(url, options)
  const settings = dualSettings(options)
  const state: State = {
    http,
    options,
    settings,
    clock,
    closing: new AbortController(),
    isAssumed: era === 'probe',
    era: era === 'probe' ? eraOfRevision(options.detected?.get(http.url)) : era,
    peer: undefined,
    detecting: undefined,
    session: undefined,
    wire: undefined,
  }
  if (state.era === 'modern') state.peer = { era: 'modern' }
  const sessions = {
    current: (request: RpcRequest) => currentSession(state, request),
    drop: (session: LegacySession) => {
      session.end()
      state.session = undefined
    },
  }
  const legacy = createLegacyExchange(sessions, settings, clock)
  const close = (): Promise<void> => closeConnection(state)
  return {
    exchange: (request, call) => dispatch(state, legacy, { request, call }),
    url: http.url,
    mixedPrincipals: typeof options.headers === 'function',
    closed: state.closing.signal,
    get peer() {
      return state.peer
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

interface Asked {
  readonly request: RpcRequest
  readonly call: Call
}

async function dispatch(state: State, legacy: Exchange, { request, call }: Asked): Promise<RpcResponse> {
  if (isCancelled(call)) throw cancelReason(call)
  state.closing.signal.throwIfAborted()
  const found = await unlessCancelled(detect(state, request), call)
  if ('response' in found) return { ...found.response, id: request.id }
  if (found.era === 'modern') return sendModern(state, legacy, { request, call })
  if (state.isAssumed && !(await unlessCancelled(isServedAsAssumed(state, request), call))) {
    return dispatch(state, legacy, { request, call })
  }
  return legacy(request, call)
}

function detect(state: State, request: RpcRequest): Promise<Detection> {
  if (state.era !== undefined) return Promise.resolve({ era: state.era })
  state.detecting ??= probe(state, request)
    .then((found) => {
      if ('era' in found) setEra(state, found.era)
      return found
    })
    .finally(() => {
      state.detecting = undefined
    })
  return state.detecting
}

function setEra(state: State, era: ProtocolEra): void {
  state.era = era
  state.isAssumed = false
  if (era === 'legacy') return
  state.peer = { era }
  state.options.detected?.set(state.http.url, protocolVersion)
}

/** Returns true when a server that is remembered as an older one still is one; otherwise it is looked at anew. */
async function isServedAsAssumed(state: State, request: RpcRequest): Promise<boolean> {
  const session = await currentSession(state, request).catch(() => undefined)
  state.isAssumed = false
  if (session !== undefined && !('error' in session)) return true
  state.era = undefined
  state.session = undefined
  return false
}

// Error codes of servers of older revisions for requests without a session.
const sessionErrors: ReadonlySet<number> = new Set([-32_000, -32_001])

async function sendModern(state: State, legacy: Exchange, { request, call }: Asked): Promise<RpcResponse> {
  let failure: unknown
  try {
    const response = await state.http.exchange(request, call)
    if (!('error' in response) || !sessionErrors.has(response.error.code)) return response
    if (!(await isLegacyNow(state, request, call))) return response
  } catch (error) {
    failure = error
    if (!isHttpError(error) || (error.status !== 400 && error.status !== 404)) throw error
    if (!(await isLegacyNow(state, request, call))) throw failure
  }
  return legacy(request, call)
}

/** Looks at a server anew that was modern, and refused a request as one of an older revision would (basic/versioning). */
async function isLegacyNow(state: State, request: RpcRequest, call: Call): Promise<boolean> {
  if (state.options.era === 'modern') return false
  state.era = undefined
  const found = await unlessCancelled(detect(state, request), call)
  if ('era' in found) return found.era === 'legacy'
  setEra(state, 'modern')
  return false
}

function currentSession(state: State, request: RpcRequest): Promise<LegacySession | RpcError> {
  if (state.session !== undefined) return state.session
  const forget = (): void => {
    if (state.session !== begun) return
    state.session = undefined
    // The next call looks again, where this side may.
    if (state.options.era !== 'legacy') state.era = undefined
  }
  const begun = beginSession(state, request).then(
    (session) => {
      if ('error' in session) forget()
      return session
    },
    (error: unknown) => {
      forget()
      throw error
    },
  )
  state.session = begun
  return begun
}

/** The handshake (basic/lifecycle): `initialize`, and the notification that calls may follow. */
async function beginSession(state: State, request: RpcRequest): Promise<LegacySession | RpcError> {
  const { http, settings, clock } = state
  const initialize = initializeRequest(request, 1)
  return withRequestTimeout(state, 'initialize', async (signal) => {
    const response = await http.send({ method: 'POST', body: encodeMessage(initialize), about: initialize, signal })
    const sessionId = response.header('mcp-session-id')
    const { maxStreamBytes = streamBytes } = state.options
    const [revision] = legacyRevisions
    const wireParts: HttpWireParts = { http, clock, revision, sessionId: undefined, maxStreamBytes, about: initialize }
    const onRequest = async (early: RpcRequest): Promise<RpcResponse> => answerBeforeHandshake(early)
    const messages = { onNotification: () => {}, onRequest }
    const answer = await readAnswer(wireParts, response, { request: initialize, signal, messages }).catch(explain)
    const introduced = readInitialize(answer)
    if ('error' in introduced) {
      await createHttpWire({ ...wireParts, sessionId })
        .end(signal)
        .catch(() => {})
      return introduced.error
    }
    const { peer } = introduced
    const wire = createHttpWire({ ...wireParts, revision: peer.revision, sessionId })
    await wire.notify(initialized)
    state.wire = wire
    state.peer = peer
    state.options.detected?.set(http.url, peer.revision)
    return createSession({ peer, wire, declared: declaredIn(request), settings })
  })
}

function explain(error: unknown): never {
  if (!isHttpError(error) || error.status === undefined || ![400, 404, 405].includes(error.status)) throw error
  const { status, excerpt, origin } = error
  const message =
    `${error.message}; it answered neither server/discover nor initialize: if it is a server of HTTP+SSE (2024-11-05), ` +
    'that transport is not supported'
  throw new HttpError('status', message, { origin, status, excerpt, cause: error })
}

async function closeConnection(state: State): Promise<void> {
  const { http, closing, settings, clock } = state
  if (!closing.signal.aborted) {
    const { origin } = new URL(http.url)
    closing.abort(new HttpError('closed', `${origin}: the connection was closed here`, { origin }))
    const { wire } = state
    const ended =
      wire &&
      withRequestTimeout({ http, clock, settings: { ...settings, handshakeTimeoutMs: endMs } }, 'DELETE', wire.end)
    await ended?.catch(() => {})
  }
  await http.close()
}
