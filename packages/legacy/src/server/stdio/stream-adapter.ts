import { randomId } from '@x/core'
import type {
  LoggingLevel,
  RpcNotification,
  RpcRequest,
  RpcResponse,
  StreamConnection,
  StreamHandler,
  StreamPeer,
  StreamProtocolAdapter,
} from '@x/schema'
import { type LegacyClient, sharedMethods, hasProtocolVersion } from '../../translate/request.ts'
import type { Deps } from '../deps.ts'
import { answerInitialize } from '../initialize.ts'
import { runLegacyCall } from '../legacy-call.ts'
import { listenToChanges, type ChangeSubscription, requestNotifiableKinds } from '../change-subscription.ts'
import { type ClientSettings, serveLocalMethod, createUnknownMethodResponse } from '../local-methods.ts'

const maxUris = 1000

/** The adapter over pairs of streams, and how it ends. */
export interface StreamAdapter {
  readonly adapter: StreamProtocolAdapter
  close(): void
}

/** Makes the adapter that serves older clients over stdio: their session is the process (basic/lifecycle). */
export function createStreamAdapter(deps: Deps): StreamAdapter {
  const connections = new Set<LegacyStreamConnection>()
  return {
    adapter: {
      connect(peer) {
        const connection = new LegacyStreamConnection(peer, deps, () => connections.delete(connection))
        connections.add(connection)
        return connection
      },
    },
    close() {
      for (const connection of connections) connection.close()
    },
  }
}

class LegacyStreamConnection implements StreamConnection {
  readonly #peer: StreamPeer
  readonly #deps: Deps
  readonly #onClose: () => void
  /** Identifies these streams among those that questions are sent to. */
  readonly #ownerId = randomId()
  readonly #uris = new Set<string>()
  /** The client, once it has introduced itself. */
  #client: LegacyClient | undefined
  #level: LoggingLevel = 'info'
  #subscription: ChangeSubscription | undefined
  #isClosed = false

  constructor(peer: StreamPeer, deps: Deps, onClose: () => void) {
    this.#peer = peer
    this.#deps = deps
    this.#onClose = onClose
  }

  handlerFor(request: RpcRequest): StreamHandler | undefined {
    if (hasProtocolVersion(request.params)) return undefined
    if (request.method === 'initialize') return (message) => this.#initialize(message)
    const client = this.#client
    return client === undefined ? undefined : (message, call, ask) => this.#serve(message, { client, call, ask })
  }

  receive(message: RpcResponse | RpcNotification): void {
    if (!('method' in message)) {
      this.#deps.questions.answer(this.#ownerId, message)
      return
    }
    if (message.method === 'notifications/initialized' && !hasProtocolVersion(message.params)) void this.#listen()
  }

  close(): void {
    this.#isClosed = true
    this.#subscription?.close()
    this.#subscription = undefined
    this.#onClose()
  }

  async #initialize(request: RpcRequest): Promise<RpcResponse> {
    const initializedClient = await answerInitialize(request, this.#peer, this.#deps)
    if ('error' in initializedClient) return initializedClient.error
    this.#client = initializedClient.client
    this.#level = 'info'
    this.#uris.clear()
    this.#subscription?.close()
    this.#subscription = undefined
    return initializedClient.response
  }

  #serve(
    request: RpcRequest,
    {
      client,
      call,
      ask,
    }: { client: LegacyClient; call: Parameters<StreamHandler>[1]; ask: Parameters<StreamHandler>[2] },
  ): Promise<RpcResponse> {
    const localResponse = serveLocalMethod(request, this.#createClientSettings(client), this.#deps)
    if (localResponse !== undefined) return localResponse
    if (!sharedMethods.has(request.method)) return Promise.resolve(createUnknownMethodResponse(request))
    const channel = {
      caller: call,
      signal: call.signal,
      owner: this.#ownerId,
      timeoutMs: Number.POSITIVE_INFINITY,
      notify: call.notify,
      // The streams end with the process, and with them what waits: a state would buy nothing.
      sessionStream: undefined,
      link: undefined,
      onAnswered: () => {},
      ask,
      notifyOfQuestion: (message: RpcNotification) => void this.#peer.notify(message),
    }
    return runLegacyCall({ request, client, level: this.#level, channel }, this.#deps)
  }

  #createClientSettings(client: LegacyClient): ClientSettings {
    return {
      client,
      caller: this.#peer,
      setLevel: (level) => {
        this.#level = level
      },
      subscribe: (uri) => {
        if (this.#uris.has(uri)) return true
        if (this.#uris.size >= maxUris) return false
        this.#uris.add(uri)
        this.#subscription?.update(this.#uris)
        return true
      },
      unsubscribe: (uri) => {
        if (this.#uris.delete(uri)) this.#subscription?.update(this.#uris)
      },
    }
  }

  /** Changes are told from `notifications/initialized` on (basic/lifecycle). */
  async #listen(): Promise<void> {
    const client = this.#client
    if (client === undefined || this.#subscription !== undefined) return
    const caller = this.#peer
    const { notify } = caller
    try {
      const notifiableKinds = await requestNotifiableKinds(client, caller, this.#deps)
      if (
        this.#isClosed ||
        this.#subscription !== undefined ||
        (!notifiableKinds.notifiesListChanges && !notifiableKinds.hasResourceUpdates)
      )
        return
    } catch (error) {
      return this.#peer.onError(error)
    }
    this.#subscription = listenToChanges(
      {
        client,
        caller,
        uris: this.#uris,
        notify,
        onEnd: () => {
          this.#subscription = undefined
        },
      },
      this.#deps,
    )
  }
}
