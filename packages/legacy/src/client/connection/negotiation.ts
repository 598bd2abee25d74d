import { type Clock, raceWithCancellation, settlesWithin } from '@x/core'
import { errorCodes, errorResponse, McpError, type RpcRequest, type RpcResponse } from '@x/schema'
import { type CallingClient, olderServerMessage } from '@x/exchange/internal'
import { declaredCapabilitiesOf } from '../calls/capabilities.ts'
import type { Port } from '../calls/port.ts'
import { LegacySession } from '../calls/session.ts'
import type { DetectedRevisions, LegacySettings, ServerPeer } from '../options.ts'
import {
  createDiscoverRequest,
  revisionOf,
  knownRevisionOf,
  namesModernRevision,
  type ServerRevision,
} from './detect.ts'
import {
  answerBeforeHandshake,
  createInitializeRequest,
  initializedNotification,
  parseInitializeResponse,
} from './handshake.ts'
import type { LegacyRevision } from '../../translate/revisions.ts'
import { isLegacyError } from '../calls/legacy-error.ts'
import type { Conversation, Transport } from './transport.ts'

export interface NegotiationOptions {
  /** As the host gives it, or `probe` to detect it. */
  readonly revision: 'probe' | ServerRevision
  /** Older revisions that a session may have. `initialize` names the first. */
  readonly sessionRevisions: readonly LegacyRevision[]
  readonly detectedRevisions: DetectedRevisions | undefined
  /** Key of the server in `detectedRevisions`. */
  readonly serverKey: string
  readonly settings: LegacySettings
  readonly clock: Clock
  /** Aborts when the connection closes. */
  readonly closed: AbortSignal
}

type NegotiationSteps = ReturnType<typeof createSteps>

/** For which request a port is opened, and by which client, whom the handshake describes. */
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
 * Detects a server's revision once for a connection, and initializes sessions if the server is an older one
 * (basic/versioning, backward compatibility).
 */
export class Negotiation {
  readonly #options: NegotiationOptions
  #revision: ServerRevision | undefined
  #peer: ServerPeer | undefined
  /** True if a process ended at the probe, or never answered. From then on, new ones are sent `initialize` first. */
  #isProbeHarmful = false
  /** The failure of a process that answered neither the probe nor `initialize`. */
  #silence: unknown

  constructor(options: NegotiationOptions) {
    const { revision, detectedRevisions, serverKey } = options
    this.#options = options
    this.#revision = revision === 'probe' ? knownRevisionOf(detectedRevisions?.get(serverKey)) : revision
    if (this.#revision === '2026-07-28') this.#peer = { revision: '2026-07-28' }
  }

  get revision(): ServerRevision | undefined {
    return this.#revision
  }

  get peer(): ServerPeer | undefined {
    return this.#peer
  }

  /**
   * Forgets the detected revision, after the server has rejected a request of that revision. False if the host has
   * given the revision.
   */
  forget(): boolean {
    if (this.#options.revision !== 'probe') return false
    this.#revision = undefined
    return true
  }

  /**
   * True, at most once, if a failure shows that the probe may have ended or confused the process. Negotiate again then,
   * with a new process that is sent `initialize` first.
   */
  avoidsProbe(error: unknown, transport: Transport): boolean {
    const isEvidence = error === this.#silence || transport.process?.isExit(error) === true
    if (!isEvidence || this.#revision !== undefined || this.#isProbeHarmful) return false
    this.#isProbeHarmful = true
    return true
  }

  /** Detects the server's revision over a new port, and initializes a session if the server is an older one. */
  async negotiate(port: Port, transport: Transport, opening: Opening): Promise<Conversation> {
    const steps = createSteps(this.#options, transport, { port, opening })
    const conversation = await this.#converse(steps, transport, opening)
    if (conversation.revision === 'none') return conversation
    this.#revision = conversation.revision
    this.#peer = conversation.revision === '2026-07-28' ? { revision: '2026-07-28' } : conversation.session.peer
    this.#options.detectedRevisions?.set(this.#options.serverKey, this.#peer.revision)
    return conversation
  }

  async #converse(steps: NegotiationSteps, transport: Transport, { request: { id } }: Opening): Promise<Conversation> {
    const { revision, clock } = this.#options
    if (this.#revision === 'older' || this.#isProbeHarmful) return steps.initializeFirst()
    const discovery = steps.discover()
    const isModern = revision === '2026-07-28' || this.#revision === '2026-07-28'
    const probeTimeoutMs = isModern ? undefined : transport.process?.probeTimeoutMs
    if (probeTimeoutMs !== undefined && !(await settlesWithin(discovery, probeTimeoutMs, clock)))
      return this.#initializeSilent(steps, discovery)
    const discovered = await discovery
    if (discovered !== 'older') return discovered
    if (revision !== '2026-07-28') return steps.initialize()
    const data = { supported: [] }
    const error = new McpError(errorCodes.unsupportedProtocolVersion, olderServerMessage(undefined), { data })
    return { revision: 'none', error: errorResponse(id, error) }
  }

  /**
   * Sends `initialize` to a process that has not answered the probe: an older server that ignores it, or one that only
   * starts slowly, since `npx` may download the program first. The first answer to either request decides, and the
   * process has the whole limit of a handshake for it.
   */
  async #initializeSilent(steps: NegotiationSteps, discovery: Promise<Conversation | 'older'>): Promise<Conversation> {
    const initialization = steps.initialize()
    initialization.catch((error: unknown) => {
      this.#silence = error
    })
    const modernDiscovery = new Promise<Conversation>((resolve) => {
      discovery.then(
        (discovered) =>
          discovered !== 'older' && discovered.revision === '2026-07-28' ? resolve(discovered) : undefined,
        () => {},
      )
    })
    const conversation = await Promise.race([initialization, modernDiscovery])
    if (conversation.revision !== 'none') return conversation
    // If a server rejects `initialize`, it may be a modern one that answers the probe slowly.
    const discovered = await discovery
    return discovered === 'older' ? conversation : discovered
  }
}

function createSteps(
  { settings, closed, clock, revision, sessionRevisions }: NegotiationOptions,
  transport: Transport,
  { port, opening: { request, client, user } }: { readonly port: Port; readonly opening: Opening },
) {
  const timeoutMs = settings.handshakeTimeoutMs
  const limit = async <T>(method: string, step: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const controller = new AbortController()
    const signal = AbortSignal.any([closed, controller.signal])
    const result = raceWithCancellation(step(signal), signal)
    // While a person logs in, the server has answered with 401, and the authorizer has a limit of its own.
    while (!(await settlesWithin(result, timeoutMs, clock)))
      if (!transport.hasOpenLogin())
        controller.abort(transport.createError('timeout', `no answer to ${method} within ${timeoutMs} ms`))
    return result
  }
  /**
   * Sends `server/discover`. Resolves with an error for the call if the response leaves the server's revision unclear
   * (LEG-084).
   */
  const discover = (): Promise<Conversation | 'older'> =>
    limit('server/discover', (signal) => port.send(createDiscoverRequest(request), signal, handshakeHandlers)).then(
      (response) => (revisionOf(response) === '2026-07-28' ? { revision: '2026-07-28' } : 'older'),
      (error: unknown) => {
        if (isLegacyError(error, 'undecided') && error.response !== undefined)
          return { revision: 'none', error: error.response }
        throw error
      },
    )
  /** Sends `initialize`, and then the notification after which calls may follow (basic/lifecycle). */
  const initialize = (): Promise<Conversation> =>
    limit('initialize', async (signal) => {
      const initializeRequest = createInitializeRequest(request, sessionRevisions)
      const response = await port.send(initializeRequest, signal, handshakeHandlers)
      const outcome = parseInitializeResponse(response, sessionRevisions)
      if ('error' in outcome) {
        await port.end(signal).catch(() => {})
        const isModern = revision === 'probe' && namesModernRevision(outcome.error)
        return isModern ? { revision: '2026-07-28' } : { revision: 'none', error: outcome.error }
      }
      const peer = { ...outcome.peer, namesCalls: transport.process === undefined }
      const declaredCapabilities = declaredCapabilitiesOf(request)
      const session = new LegacySession({ peer, port, settings, client, user, declaredCapabilities })
      // Be ready for requests before the notification is sent, because a server may then send one at once.
      port.begin(peer.revision, session.standaloneHandlers)
      await port.notify(initializedNotification)
      return { revision: 'older', session, port }
    })
  /**
   * Sends `initialize` first, because the server is probably an older one. If the server rejects it, sends the probe.
   */
  const initializeFirst = async (): Promise<Conversation> => {
    const initialization = initialize()
    const isRefused = await initialization.then((conversation) => conversation.revision === 'none', transport.isRefusal)
    if (!isRefused || revision === 'older') return initialization
    const discovered = await discover()
    return discovered !== 'older' && discovered.revision === '2026-07-28' ? discovered : initialization
  }
  return { discover, initialize, initializeFirst }
}
