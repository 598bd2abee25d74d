import {
  abortReasonOf,
  type Clock,
  isCancelled,
  platformRuntime,
  raceWithAbort,
  raceWithCancellation,
  settlesWithin,
  withTimeout,
} from '@x/core'
import {
  type Call,
  type CallingClient,
  callingClientKey,
  createCall,
  errorCodes,
  olderServerMessage,
  protocolVersion,
  type RpcError,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import {
  connectStdio,
  isStdioError,
  type ProcessView,
  type StartedProcess,
  type StdioConnection,
  StdioError,
} from '@x/transport-stdio'
import { createDiscoverRequest, eraOf, eraOfRevision, type ProtocolEra } from '../client/detect.ts'
import {
  answerBeforeHandshake,
  createInitializeRequest,
  declaredCapabilitiesOf,
  initializedNotification,
  parseInitializeResponse,
} from '../client/handshake.ts'
import { createLegacyExchange } from '../client/legacy-exchange.ts'
import { type DualConnection, type DualPeer, type LegacySettings, resolveDualSettings } from '../client/options.ts'
import { createLegacySession, type LegacySession, type LegacyTransport } from '../client/session.ts'
import { type DualStdioOptions, stdioOptionsOf } from './options.ts'

/** A connection to a server of either kind in a process of its own. */
export interface DualStdioConnection extends DualConnection {
  /** The process as it is now. */
  readonly process: ProcessView
}

interface DualStdioState {
  readonly options: DualStdioOptions
  readonly settings: LegacySettings
  readonly clock: Clock
  readonly serverKey: string
  readonly closeController: AbortController
  connection: StdioConnection
  /** The first process ended or was silent at the probe: its successors receive `initialize` first. */
  isLegacySuspected: boolean
  era: ProtocolEra | undefined
  peer: DualPeer | undefined
  session: LegacySession | RpcError | undefined
  /** The request whose client is introduced to processes. */
  firstRequest: ClientIntroduction | undefined
  startPromise: Promise<void> | undefined
}

/** The first request, and the client that sent it. */
interface ClientIntroduction {
  readonly request: RpcRequest
  readonly client: CallingClient | undefined
}

/** A process did not answer the probe in its time. */
class NoAnswerError extends StdioError {}

/**
 * Runs a server of 2026-07-28, 2025-11-25, 2025-06-18 or 2025-03-26 as a process of its own, whichever it speaks
 * (basic/transports/stdio, backward compatibility). Calls, questions and subscriptions are the same for all. The first
 * call starts the process.
 *
 * A call rejects with `StdioError` when no answer could be had.
 *
 * @example
 * await using connection = connectDualStdio({ command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '.'] })
 * const client = createClient(connection.exchange, { name: 'host', version: '1.0.0', elicit })
 */
export function connectDualStdio(options: DualStdioOptions): DualStdioConnection {
  const { runtime: clock = platformRuntime, era = 'probe' } = options
  const settings = resolveDualSettings(options)
  const serverKey = [options.command, ...(options.args ?? [])].join(' ')
  const knownEra = era === 'probe' ? eraOfRevision(options.detectedRevisions?.get(serverKey)) : era
  const state: Omit<DualStdioState, 'connection'> & Partial<Pick<DualStdioState, 'connection'>> = {
    options,
    settings,
    clock,
    serverKey,
    closeController: new AbortController(),
    isLegacySuspected: false,
    era: knownEra,
    peer: undefined,
    session: undefined,
    firstRequest: undefined,
    startPromise: undefined,
  }
  const completeState: DualStdioState = Object.assign(state, {
    connection: openConnection(() => completeState, options),
  })
  const sessionSource = {
    getSession: async (request: RpcRequest, call: Call) => {
      await ensureProcessStarted(completeState, request, call)
      return completeState.session ?? createNoSessionError(request)
    },
    drop: () => {},
  }
  const legacyExchange = createLegacyExchange(sessionSource, settings, clock)
  const close = async (): Promise<void> => {
    completeState.closeController.abort(new StdioError('closed', 'The connection was closed here'))
    await completeState.connection.close()
  }
  return {
    exchange: async (request, call) => {
      if (isCancelled(call)) throw abortReasonOf(call)
      completeState.closeController.signal.throwIfAborted()
      if (completeState.era === undefined || completeState.connection.process.pid === undefined) {
        await raceWithCancellation(ensureProcessStarted(completeState, request, call), call)
      }
      return completeState.era === 'modern'
        ? completeState.connection.exchange(request, call)
        : legacyExchange(request, call)
    },
    url: completeState.connection.url,
    closed: completeState.closeController.signal,
    get peer() {
      return completeState.peer
    },
    get process() {
      return completeState.connection.process
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

function createNoSessionError({ id }: RpcRequest): RpcError {
  return { jsonrpc: '2.0', id, error: { code: -32_603, message: 'The server has no session' } }
}

function openConnection(getState: () => DualStdioState, options: DualStdioOptions): StdioConnection {
  const withSession = <T>(useSession: (session: LegacySession) => T): T | undefined => {
    const { session } = getState()
    return session === undefined || 'error' in session ? undefined : useSession(session)
  }
  return connectStdio({
    ...stdioOptionsOf(options),
    onStart: (process, signal) => negotiateEra(getState(), process, signal),
    onNotification: (message: RpcNotification) =>
      withSession(({ standaloneHandlers }) => standaloneHandlers.onNotification(message)),
    onRequest: async (request: RpcRequest) =>
      withSession(({ standaloneHandlers }) => standaloneHandlers.onRequest(request)) ?? answerBeforeHandshake(request),
    onExit: (exit) => {
      withSession((session) => session.end())
      options.onExit?.(exit)
    },
  })
}

/**
 * Waits for a process whose era is known. A new one follows the first where the probe has ended it, or was met with
 * silence.
 */
function ensureProcessStarted(state: DualStdioState, request: RpcRequest, call: Call): Promise<void> {
  state.firstRequest ??= { request, client: call.context.get(callingClientKey) }
  state.startPromise ??= startDualConnection(state).finally(() => {
    state.startPromise = undefined
  })
  return state.startPromise
}

async function startDualConnection(state: DualStdioState): Promise<void> {
  try {
    await state.connection.start()
  } catch (error) {
    const isLegacyEvidence = error instanceof NoAnswerError || (isStdioError(error) && error.code === 'exited')
    if (state.era !== undefined || state.isLegacySuspected || !isLegacyEvidence) throw error
    state.closeController.signal.throwIfAborted()
    state.isLegacySuspected = true
    await state.connection.close()
    state.connection = openConnection(() => state, state.options)
    await state.connection.start()
  }
}

async function negotiateEra(state: DualStdioState, process: StartedProcess, signal: AbortSignal): Promise<void> {
  const { firstRequest } = state
  if (firstRequest === undefined) throw new StdioError('probe', 'There is no client to introduce')
  if (state.era === 'legacy' || state.isLegacySuspected)
    return performHandshake(state, process, { ...firstRequest, signal })
  const discovery = process.exchange(createDiscoverRequest(firstRequest.request), createCall())
  if (!(await isProbeAnswered(state, discovery, signal)))
    return initializeSilentProcess(state, process, { ...firstRequest, signal, discovery })
  if (eraOf(await discovery) === 'modern') return setModernEra(state)
  if (state.options.era === 'modern') {
    throw new StdioError('unsupported_version', `${state.options.command}: ${olderServerMessage(undefined)}`)
  }
  return performHandshake(state, process, { ...firstRequest, signal })
}

function setModernEra(state: DualStdioState): void {
  state.era = 'modern'
  state.peer = { era: 'modern' }
  state.options.detectedRevisions?.set(state.serverKey, protocolVersion)
}

interface HandshakeRequest extends ClientIntroduction {
  /** Time after which a process that never spoke is taken for one that the probe has broken. */
  readonly silenceTimeoutMs?: number
  readonly signal: AbortSignal
}

const defaultProbeTimeoutMs = 5000

/** Waits for the answer to the probe. Rejects for a server that is known to be modern, and does not answer. */
async function isProbeAnswered(
  { era, options, settings, clock }: DualStdioState,
  discovery: Promise<RpcResponse>,
  signal: AbortSignal,
): Promise<boolean> {
  const isModern = era === 'modern' || options.era === 'modern'
  const timeoutMs = isModern ? settings.handshakeTimeoutMs : (options.probeTimeoutMs ?? defaultProbeTimeoutMs)
  const isAnswered = await raceWithAbort(settlesWithin(discovery, timeoutMs, clock), signal)
  if (isAnswered || !isModern) return isAnswered
  throw new StdioError('probe', `${options.command} did not answer server/discover within ${timeoutMs} ms`)
}

/**
 * Sends `initialize` to a process that has not answered the probe: it may only be slow to start, and its answer to
 * either request decides. One that answers neither in twice the time of the probe is replaced.
 */
async function initializeSilentProcess(
  state: DualStdioState,
  process: StartedProcess,
  { discovery, ...handshake }: HandshakeRequest & { readonly discovery: Promise<RpcResponse> },
): Promise<void> {
  const { probeTimeoutMs = defaultProbeTimeoutMs } = state.options
  const initialization = performHandshake(state, process, { ...handshake, silenceTimeoutMs: 2 * probeTimeoutMs })
  const modernDiscovery = new Promise<'modern'>((resolve) => {
    discovery.then(
      (response) => (eraOf(response) === 'modern' ? resolve('modern') : undefined),
      () => {},
    )
  })
  const firstOutcome = await Promise.race([initialization, modernDiscovery])
  if (firstOutcome !== 'modern') return
  initialization.catch(() => {})
  setModernEra(state)
}

/** The handshake (basic/lifecycle): `initialize`, and the notification that calls may follow. */
async function performHandshake(
  state: DualStdioState,
  process: StartedProcess,
  { request, client, signal, silenceTimeoutMs }: HandshakeRequest,
): Promise<void> {
  const { settings, options } = state
  const ms = silenceTimeoutMs ?? settings.handshakeTimeoutMs
  const createTimeoutError = (): StdioError => {
    const message = `${options.command} did not answer initialize within ${ms} ms`
    return silenceTimeoutMs === undefined ? new StdioError('probe', message) : new NoAnswerError('probe', message)
  }
  const initializeMessage = createInitializeRequest(request, 1)
  const initializeOutcome = parseInitializeResponse(
    await sendWithTimeout(state, process, { ms, createTimeoutError, signal, request: initializeMessage }),
  )
  if ('error' in initializeOutcome)
    return probeAfterRejection(state, process, { request, client, signal, error: initializeOutcome.error })
  const { peer } = initializeOutcome
  process.notify(initializedNotification)
  const legacyTransport = createStdioTransport(process)
  const session = createLegacySession({
    peer,
    legacyTransport,
    clientCapabilities: declaredCapabilitiesOf(request),
    settings,
    client,
  })
  state.session = session
  state.peer = peer
  state.era = 'legacy'
  options.detectedRevisions?.set(state.serverKey, peer.revision)
}

/** A server that refuses `initialize` may be a modern one, which was slow at the probe or is remembered as another. */
async function probeAfterRejection(
  state: DualStdioState,
  process: StartedProcess,
  { request, signal, error }: HandshakeRequest & { readonly error: RpcError },
): Promise<void> {
  if (state.options.era !== 'legacy') {
    const discovery = process.exchange(createDiscoverRequest(request), createCall())
    await isProbeAnswered({ ...state, era: 'modern' }, discovery, signal)
    if (eraOf(await discovery) === 'modern') return setModernEra(state)
  }
  const { code, message } = error.error
  if (code === errorCodes.unsupportedProtocolVersion)
    throw new StdioError('unsupported_version', `${state.options.command}: ${message.slice(0, 300)}`)
  throw new StdioError('probe', `${state.options.command} refused initialize: ${code} ${message.slice(0, 300)}`)
}

interface TimedRequest {
  readonly request: RpcRequest
  readonly ms: number
  readonly createTimeoutError: () => StdioError
  readonly signal: AbortSignal
}

/**
 * Sends a request that is never cancelled at the server (basic/utilities/cancellation), and waits so long for its
 * answer.
 */
function sendWithTimeout(
  { clock }: Pick<DualStdioState, 'clock'>,
  process: StartedProcess,
  timedRequest: TimedRequest,
): Promise<RpcResponse> {
  const { request, ms, createTimeoutError, signal } = timedRequest
  const internalCall = createCall({ signal: new AbortController().signal, notify: () => {} })
  return withTimeout({ signal, timeoutMs: ms, clock, createTimeoutError }, () =>
    process.exchange(request, internalCall),
  )
}

/**
 * Carries the messages of one session over the streams of one process, which is its session (2025-11-25,
 * basic/transports).
 */
function createStdioTransport(process: StartedProcess): LegacyTransport {
  return {
    // Requests of the server name no call. They come to the session, which knows the latest.
    request: (request, signal, { onNotification }) =>
      process.exchange(request, createCall({ signal, notify: onNotification })),
    notify: async (message) => process.notify(message),
    // Notifications outside of calls come to the session by themselves, for as long as the process runs.
    listen: async () => ({ endPromise: new Promise(() => {}) }),
  }
}
