import { type Clock, settlesWithin, withTimeout } from '@x/core'
import { errorCodes, errorResponse, McpError, protocolVersion, type RpcRequest, type RpcResponse } from '@x/schema'
import { type CallingClient, olderServerMessage } from '@x/exchange/internal'
import { declaredCapabilitiesOf } from '../calls/capabilities.ts'
import type { Port } from '../calls/port.ts'
import { createLegacySession } from '../calls/session.ts'
import type { DetectedRevisions, LegacySettings, ServerPeer } from '../options.ts'
import { createDiscoverRequest, eraOf, eraOfRevision, namesModernRevision, type ProtocolEra } from './detect.ts'
import {
  answerBeforeHandshake,
  createInitializeRequest,
  initializedNotification,
  parseInitializeResponse,
} from './handshake.ts'
import { isLegacyError } from '../calls/legacy-error.ts'
import type { Conversation, Transport } from './transport.ts'

/** The dependencies of a negotiation. */
export interface NegotiationOptions {
  /** The era of the server as the host gives it, or `probe` to detect it. */
  readonly era: 'probe' | ProtocolEra
  readonly detectedRevisions: DetectedRevisions | undefined
  /** The key of the server in `detectedRevisions`. */
  readonly serverKey: string
  readonly settings: LegacySettings
  readonly clock: Clock
  /** Aborts when the connection closes. */
  readonly closed: AbortSignal
}

/** The functions that send the requests of one negotiation. */
interface NegotiationSteps {
  /**
   * Sends `server/discover`. Resolves with an error for the call if the response does not show the era of the server
   * (LEG-084).
   */
  discover(): Promise<Conversation | 'legacy'>
  /** Sends `initialize`, and then the notification after which calls may follow (basic/lifecycle). */
  initialize(timeoutMs?: number): Promise<Conversation>
  /**
   * Sends `initialize` first, because the server is probably an older one. If the server rejects it, sends the probe.
   */
  initializeFirst(): Promise<Conversation>
}

/** The request for which a port is opened, and the client that has sent it. The handshake describes this client. */
export interface Opening {
  readonly request: RpcRequest
  readonly client: CallingClient | undefined
  /** The user of the session. */
  readonly user: string
}

const handshakeHandlers = {
  onNotification: (): void => {},
  onRequest: async (request: RpcRequest): Promise<RpcResponse> => answerBeforeHandshake(request),
}

/**
 * Detects the era of a server once for a connection, and initializes sessions if the server is an older one
 * (basic/versioning, backward compatibility).
 */
export class Negotiation {
  readonly #options: NegotiationOptions
  #era: ProtocolEra | undefined
  #peer: ServerPeer | undefined
  /** True if a process ended or did not answer at the probe. Then new processes are sent `initialize` first. */
  #isProbeHarmful = false
  /** The error of a process that answered neither the probe nor `initialize`. */
  #silence: unknown

  constructor(options: NegotiationOptions) {
    const { era, detectedRevisions, serverKey } = options
    this.#options = options
    this.#era = era === 'probe' ? eraOfRevision(detectedRevisions?.get(serverKey)) : era
    if (this.#era === 'modern') this.#peer = { era: 'modern' }
  }

  get era(): ProtocolEra | undefined {
    return this.#era
  }

  get peer(): ServerPeer | undefined {
    return this.#peer
  }

  /**
   * Forgets the detected era, after the server has rejected a request of that era. Returns false if the host has given
   * the era.
   */
  forget(): boolean {
    if (this.#options.era !== 'probe') return false
    this.#era = undefined
    return true
  }

  /**
   * Returns true, at most once, if a failure shows that the probe may have ended or confused the process. The
   * negotiation is then repeated with a new process, which is sent `initialize` first.
   */
  avoidsProbe(error: unknown, transport: Transport): boolean {
    const isEvidence = error === this.#silence || transport.process?.isExit(error) === true
    if (!isEvidence || this.#era !== undefined || this.#isProbeHarmful) return false
    this.#isProbeHarmful = true
    return true
  }

  /** Detects the era of the server over a new port. Initializes a session if the server is an older one. */
  async negotiate(port: Port, transport: Transport, opening: Opening): Promise<Conversation> {
    const steps = createSteps(this.#options, transport, { port, opening })
    const conversation = await this.#converse(steps, transport, opening)
    if (conversation.era === 'none') return conversation
    this.#era = conversation.era
    this.#peer = conversation.era === 'modern' ? { era: 'modern' } : conversation.session.peer
    const revision = conversation.era === 'modern' ? protocolVersion : conversation.session.peer.revision
    this.#options.detectedRevisions?.set(this.#options.serverKey, revision)
    return conversation
  }

  async #converse(steps: NegotiationSteps, transport: Transport, { request: { id } }: Opening): Promise<Conversation> {
    const { era, clock } = this.#options
    if (this.#era === 'legacy' || this.#isProbeHarmful) return steps.initializeFirst()
    const discovery = steps.discover()
    const isModern = era === 'modern' || this.#era === 'modern'
    const probeTimeoutMs = isModern ? undefined : transport.process?.probeTimeoutMs
    if (probeTimeoutMs !== undefined && !(await settlesWithin(discovery, probeTimeoutMs, clock)))
      return this.#initializeSilent(steps, discovery, probeTimeoutMs)
    const discovered = await discovery
    if (discovered !== 'legacy') return discovered
    if (era !== 'modern') return steps.initialize()
    const data = { supported: [] }
    const error = new McpError(errorCodes.unsupportedProtocolVersion, olderServerMessage(undefined), { data })
    return { era: 'none', error: errorResponse(id, error) }
  }

  /**
   * Sends `initialize` to a process that has not answered the probe, because the process may only start slowly. The
   * first answer to either request decides. Rejects if neither request is answered within twice the time limit of the
   * probe.
   */
  async #initializeSilent(
    steps: NegotiationSteps,
    discovery: Promise<Conversation | 'legacy'>,
    probeTimeoutMs: number,
  ): Promise<Conversation> {
    const initialization = steps.initialize(2 * probeTimeoutMs)
    initialization.catch((error: unknown) => {
      this.#silence = error
    })
    const modernDiscovery = new Promise<Conversation>((resolve) => {
      discovery.then(
        (discovered) => (discovered !== 'legacy' && discovered.era === 'modern' ? resolve(discovered) : undefined),
        () => {},
      )
    })
    const conversation = await Promise.race([initialization, modernDiscovery])
    if (conversation.era !== 'none') return conversation
    // A server that rejects `initialize` may be a modern server that answers the probe slowly.
    const discovered = await discovery
    return discovered === 'legacy' ? conversation : discovered
  }
}

/** Creates the functions that send the requests of one negotiation. */
function createSteps(
  { settings, closed, clock, era }: NegotiationOptions,
  transport: Transport,
  { port, opening: { request, client, user } }: { readonly port: Port; readonly opening: Opening },
): NegotiationSteps {
  const limit = <T>(method: string, timeoutMs: number, step: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const createTimeoutError = (): Error =>
      transport.createError('timeout', `no answer to ${method} within ${timeoutMs} ms`)
    return withTimeout({ signal: closed, timeoutMs, clock, createTimeoutError }, step)
  }
  const discover = (): Promise<Conversation | 'legacy'> =>
    limit('server/discover', settings.handshakeTimeoutMs, (signal) =>
      port.send(createDiscoverRequest(request), signal, handshakeHandlers),
    ).then(
      (response) => (eraOf(response) === 'modern' ? { era: 'modern' } : 'legacy'),
      (error: unknown) => {
        if (isLegacyError(error, 'undecided') && error.response !== undefined)
          return { era: 'none', error: error.response }
        throw error
      },
    )
  const initialize = (timeoutMs = settings.handshakeTimeoutMs): Promise<Conversation> =>
    limit('initialize', timeoutMs, async (signal) => {
      const response = await port.send(createInitializeRequest(request, 1), signal, handshakeHandlers)
      const outcome = parseInitializeResponse(response)
      if ('error' in outcome) {
        await port.end(signal).catch(() => {})
        const isModern = era === 'probe' && namesModernRevision(outcome.error)
        return isModern ? { era: 'modern' } : { era: 'none', error: outcome.error }
      }
      const peer = { ...outcome.peer, namesCalls: transport.process === undefined }
      const clientCapabilities = declaredCapabilitiesOf(request)
      const session = createLegacySession({ peer, port, settings, client, user, clientCapabilities })
      // The session must accept requests before the notification is sent, because a server may then send a request at
      // once.
      port.begin(peer.revision, session.standaloneHandlers)
      await port.notify(initializedNotification)
      return { era: 'legacy', session, port }
    })
  const initializeFirst = async (): Promise<Conversation> => {
    const initialization = initialize()
    const isRefused = await initialization.then((conversation) => conversation.era === 'none', transport.isRefusal)
    if (!isRefused || era === 'legacy') return initialization
    const discovered = await discover()
    return discovered !== 'legacy' && discovered.era === 'modern' ? discovered : initialization
  }
  return { discover, initialize, initializeFirst }
}
