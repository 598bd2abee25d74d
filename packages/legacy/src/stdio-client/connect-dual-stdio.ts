import {
  cancelReason,
  type Clock,
  isCancelled,
  olderServerMessage,
  platformClock,
  protocolVersion,
  type RpcError,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
  unlessCancelled,
} from '@x/schema'
import {
  connectStdio,
  isStdioError,
  type ProcessView,
  type StartedProcess,
  type StdioConnectOptions,
  type StdioConnection,
  StdioError,
} from '@x/transport-stdio'
import { discoverRequest, type ProtocolEra, eraOfRevision, eraOf } from '../client/detect.ts'
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
import { createOwnCall } from '../client/wire.ts'
import { createStdioWire } from './stdio-wire.ts'

/** The options of {@link connectDualStdio}: those of `connectStdio`, and what concerns older servers. */
export interface DualStdioOptions
  extends DualOptions,
    Omit<StdioConnectOptions, 'probe' | 'onStart' | 'onRequest' | 'onNotification'> {
  /** Time that a fresh process may be silent at the probe, in milliseconds, before it is taken for an older server. Default 5,000. */
  readonly probeMs?: number | undefined
}

/** A connection to a server of either kind in a process of its own. */
export interface DualStdioConnection extends DualConnection {
  /** The process as it is now. */
  readonly process: ProcessView
}

interface State {
  readonly options: DualStdioOptions
  readonly settings: LegacySettings
  readonly clock: Clock
  readonly key: string
  readonly closing: AbortController
  connection: StdioConnection
  /** The first process ended or was silent at the probe: its successors hear `initialize` first. */
  isSuspected: boolean
  era: ProtocolEra | undefined
  peer: DualPeer | undefined
  session: LegacySession | RpcError | undefined
  /** The request whose client is introduced to processes. */
  introducing: RpcRequest | undefined
  starting: Promise<void> | undefined
}

/** A process did not answer the probe in its time. */
class SilentError extends StdioError {}

/**
 * Runs a server of 2026-07-28, 2025-11-25, 2025-06-18 or 2025-03-26 as a process of its own, whichever it speaks
 * (basic/transports/stdio, backward compatibility). Calls, questions and subscriptions are the same for all. The first call starts
 * the process.
 *
 * A call rejects with `StdioError` when no answer could be had.
 *
 * @example
 * await using connection = connectDualStdio({ command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '.'] })
 * const client = createClient(connection.exchange, { name: 'host', version: '1.0.0', elicit })
 */
export function connectDualStdio(options: DualStdioOptions): DualStdioConnection {
  const { clock = platformClock, era = 'probe' } = options
  const settings = dualSettings(options)
  const key = [options.command, ...(options.args ?? [])].join(' ')
  const known = era === 'probe' ? eraOfRevision(options.detected?.get(key)) : era
  const state: Omit<State, 'connection'> & Partial<Pick<State, 'connection'>> = {
    options,
    settings,
    clock,
    key,
    closing: new AbortController(),
    isSuspected: false,
    era: known,
    peer: undefined,
    session: undefined,
    introducing: undefined,
    starting: undefined,
  }
  const whole: State = Object.assign(state, { connection: openConnection(() => whole, options) })
  const sessions = {
    current: async (request: RpcRequest) => {
      await ready(whole, request)
      return whole.session ?? noSession(request)
    },
    drop: () => {},
  }
  const legacy = createLegacyExchange(sessions, settings, clock)
  const close = async (): Promise<void> => {
    whole.closing.abort(new StdioError('closed', 'The connection was closed here'))
    await whole.connection.close()
  }
  return {
    exchange: async (request, call) => {
      if (isCancelled(call)) throw cancelReason(call)
      whole.closing.signal.throwIfAborted()
      if (whole.era === undefined || whole.connection.process.pid === undefined) {
        await unlessCancelled(ready(whole, request), call)
      }
      return whole.era === 'modern' ? whole.connection.exchange(request, call) : legacy(request, call)
    },
    url: whole.connection.url,
    closed: whole.closing.signal,
    get peer() {
      return whole.peer
    },
    get process() {
      return whole.connection.process
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

function noSession({ id }: RpcRequest): RpcError {
  return { jsonrpc: '2.0', id, error: { code: -32_603, message: 'The server has no session' } }
}

function openConnection(stateOf: () => State, options: DualStdioOptions): StdioConnection {
  const withSession = <T>(use: (session: LegacySession) => T): T | undefined => {
    const { session } = stateOf()
    return session === undefined || 'error' in session ? undefined : use(session)
  }
  return connectStdio({
    ...options,
    onStart: (process, signal) => startUp(stateOf(), process, signal),
    onNotification: (message: RpcNotification) => withSession(({ outside }) => outside.onNotification(message)),
    onRequest: async (request: RpcRequest) =>
      withSession(({ outside }) => outside.onRequest(request)) ?? answerBeforeHandshake(request),
    onExit: (exit) => {
      withSession((session) => session.end())
      options.onExit?.(exit)
    },
  })
}

/** Waits for a process whose era is known. A new one follows the first where the probe has ended it, or was met with silence. */
function ready(state: State, request: RpcRequest): Promise<void> {
  state.introducing ??= request
  state.starting ??= start(state).finally(() => {
    state.starting = undefined
  })
  return state.starting
}

async function start(state: State): Promise<void> {
  try {
    await state.connection.start()
  } catch (error) {
    const isEvidence = error instanceof SilentError || (isStdioError(error) && error.code === 'exited')
    if (state.era !== undefined || state.isSuspected || !isEvidence) throw error
    state.closing.signal.throwIfAborted()
    state.isSuspected = true
    await state.connection.close()
    state.connection = openConnection(() => state, state.options)
    await state.connection.start()
  }
}

async function startUp(state: State, process: StartedProcess, signal: AbortSignal): Promise<void> {
  const { introducing } = state
  if (introducing === undefined) throw new StdioError('probe', 'There is no client to introduce')
  if (state.era === 'legacy' || state.isSuspected)
    return handshakeProcess(state, process, { request: introducing, signal })
  const era = await probeProcess(state, process, { request: introducing, signal })
  if (era === 'modern') return setModern(state)
  if (state.options.era === 'modern') {
    throw new StdioError('unsupported_version', `${state.options.command}: ${olderServerMessage(undefined)}`)
  }
  return handshakeProcess(state, process, { request: introducing, signal })
}

function setModern(state: State): void {
  state.era = 'modern'
  state.peer = { era: 'modern' }
  state.options.detected?.set(state.key, protocolVersion)
}

interface Handshaking {
  readonly request: RpcRequest
  readonly signal: AbortSignal
}

async function probeProcess(
  state: State,
  process: StartedProcess,
  { request, signal }: Handshaking,
): Promise<ProtocolEra> {
  const { probeMs = 5000, command } = state.options
  const late = (): StdioError =>
    new SilentError('probe', `${command} did not answer server/discover within ${probeMs} ms`)
  const limit = { ms: state.era === 'modern' ? state.settings.handshakeTimeoutMs : probeMs, late, signal }
  return eraOf(await sendWithin(state, process, { ...limit, request: discoverRequest(request) }))
}

/** The handshake (basic/lifecycle): `initialize`, and the notification that calls may follow. */
async function handshakeProcess(
  state: State,
  process: StartedProcess,
  { request, signal }: Handshaking,
): Promise<void> {
  const { settings, options } = state
  const { handshakeTimeoutMs: ms } = settings
  const late = (): StdioError => new StdioError('probe', `${options.command} did not answer initialize within ${ms} ms`)
  const initialize = initializeRequest(request, 1)
  const introduced = readInitialize(await sendWithin(state, process, { ms, late, signal, request: initialize }))
  if ('error' in introduced) return afterRejection(state, process, { request, signal, error: introduced.error })
  const { peer } = introduced
  process.notify(initialized)
  const wire = createStdioWire(process)
  const session = createSession({ peer, wire, declared: declaredIn(request), settings })
  state.session = session
  state.peer = peer
  state.era = 'legacy'
  options.detected?.set(state.key, peer.revision)
}

/** A server that refuses `initialize` may be a modern one, which was slow at the probe or is remembered as another. */
async function afterRejection(
  state: State,
  process: StartedProcess,
  { request, signal, error }: Handshaking & { readonly error: RpcError },
): Promise<void> {
  if (state.options.era !== 'legacy') {
    const era = await probeProcess({ ...state, era: 'modern' }, process, { request, signal })
    if (era === 'modern') return setModern(state)
  }
  const { code, message } = error.error
  throw new StdioError('probe', `${state.options.command} refused initialize: ${code} ${message.slice(0, 300)}`)
}

interface SendingRequest {
  readonly request: RpcRequest
  readonly ms: number
  readonly late: () => StdioError
  readonly signal: AbortSignal
}

/** Sends a request that is never cancelled at the server (basic/utilities/cancellation), and waits so long for its answer. */
function sendWithin(
  { clock }: Pick<State, 'clock'>,
  process: StartedProcess,
  sending: SendingRequest,
): Promise<RpcResponse> {
  const { request, ms, late, signal } = sending
  const limit = new AbortController()
  const timer = clock.setTimeout(() => limit.abort(late()), ms)
  const sent = process.exchange(
    request,
    createOwnCall(new AbortController().signal, () => {}),
  )
  const until = AbortSignal.any([signal, limit.signal])
  return unlessCancelled(sent, { signal: until }).finally(() => clock.clearTimeout(timer))
}
