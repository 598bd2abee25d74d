import { isLimitError, randomId, withSignalOf } from '@x/core'
import {
  callerKeyOf,
  type StreamConnection,
  type StreamHandler,
  type StreamPeer,
  type StreamProtocolAdapter,
} from '@x/exchange'
import type { LoggingLevel, RpcNotification, RpcRequest, RpcResponse, StatefulRequest } from '@x/schema'
import { type LegacyClient, hasProtocolVersion } from '../../translate/request.ts'
import { runLegacyCall } from '../call/legacy-call.ts'
import type { CallDeps } from '../call/call-deps.ts'
import { ChangeSubscription, requestNotifiableKinds } from '../session/change-subscription.ts'
import { withClientSession } from '../session/client-session.ts'
import type { Caller } from '../session/deps.ts'
import { answerInitialize } from '../session/initialize.ts'
import { type ClientSettings, serveLocalMethod } from '../session/local-methods.ts'
import { toLegacyErrorResponse } from '../session/to-error-response.ts'

/** Serves older clients over stdio. A session lasts as long as the process (basic/lifecycle). */
export function createStreamAdapter(deps: CallDeps): { readonly adapter: StreamProtocolAdapter; close(): void } {
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

/** One older client over a pair of streams: the connection is the session, so nothing outlives it. */
class LegacyStreamConnection implements StreamConnection {
  readonly #peer: StreamPeer
  readonly #deps: CallDeps
  readonly #onClose: () => void
  /** Answers are accepted only from the owner of their question. */
  readonly #ownerId = randomId()
  readonly #uris = new Set<string>()
  readonly #sessionDigest = randomId()
  readonly #caller: Caller
  readonly #releaseUris: (() => void)[] = []
  #client: LegacyClient | undefined
  #level: LoggingLevel = 'info'
  #subscription: ChangeSubscription | undefined
  /** Pending while the subscription opens, for a client that subscribes to a resource meanwhile. */
  #opening: Promise<void> | undefined
  #isClosed = false

  constructor(peer: StreamPeer, deps: CallDeps, onClose: () => void) {
    this.#peer = peer
    this.#caller = withClientSession(peer, this.#sessionDigest)
    this.#deps = deps
    this.#onClose = onClose
  }

  handlerFor(request: RpcRequest): StreamHandler | undefined {
    if (hasProtocolVersion(request.params)) return undefined
    if (request.method === 'initialize') return (message) => this.#initialize(message)
    const client = this.#client
    return client === undefined ? undefined : (message, call, ask) => this.#serve(message, client, call, ask)
  }

  receive(message: RpcResponse | RpcNotification): void {
    if (!('method' in message)) {
      this.#deps.questions.answer(this.#ownerId, message)
      return
    }
    if (message.method === 'notifications/initialized' && !hasProtocolVersion(message.params))
      this.#opening = this.#listen()
  }

  close(): void {
    this.#isClosed = true
    this.#subscription?.close()
    this.#subscription = undefined
    this.#forgetUris()
    this.#onClose()
  }

  async #initialize(request: RpcRequest): Promise<RpcResponse> {
    const initializedClient = await answerInitialize(request, this.#caller, this.#deps)
    if ('error' in initializedClient) return initializedClient.error
    this.#client = initializedClient.client
    this.#level = 'info'
    this.#forgetUris()
    this.#subscription?.close()
    this.#subscription = undefined
    return initializedClient.response
  }

  #serve(
    request: RpcRequest,
    client: LegacyClient,
    call: Parameters<StreamHandler>[1],
    ask: Parameters<StreamHandler>[2],
  ): Promise<RpcResponse> {
    const localResponse = serveLocalMethod(request, this.#createClientSettings(client), this.#deps)
    if (localResponse !== undefined) return localResponse
    const channel = {
      caller: withClientSession(call, this.#sessionDigest),
      owner: this.#ownerId,
      timeoutMs: Number.POSITIVE_INFINITY,
      notify: call.notify,
      // The id is empty and no `state` is sent, because calls end with the process and its streams.
      stream: { id: '', countEvents: () => 0 },
      onQuestionsSent: () => {},
      onAnswered: () => {},
      ask: (question: StatefulRequest) => ask(question),
      notifyOfQuestion: (message: RpcNotification) => void this.#peer.notify(message),
    }
    const legacyCall = { request, client, level: this.#level, channel: withSignalOf(channel, call) }
    return runLegacyCall(legacyCall, this.#deps).catch((error: unknown) => {
      if (!isLimitError(error)) throw error
      return toLegacyErrorResponse(request.id, error, this.#deps)
    })
  }

  #createClientSettings(client: LegacyClient): ClientSettings {
    return {
      client,
      caller: this.#caller,
      setLevel: (level) => {
        this.#level = level
      },
      hasUri: (uri) => this.#uris.has(uri),
      subscribe: async (uri) => {
        if (this.#uris.has(uri)) return
        this.#releaseUris.push(this.#deps.ledger.take('uris', callerKeyOf(this.#peer)))
        this.#uris.add(uri)
        // A client may cause an update as soon as it has the answer. A subscription that opens meanwhile has the URI.
        if (this.#subscription !== undefined) return this.#subscription.update(this.#uris)
        await this.#opening
        await this.#acknowledged()
      },
      unsubscribe: (uri) => {
        if (!this.#uris.delete(uri)) return
        this.#releaseUris.pop()?.()
        void this.#subscription?.update(this.#uris)
      },
    }
  }

  async #acknowledged(): Promise<void> {
    await this.#subscription?.acknowledged()
  }

  #forgetUris(): void {
    this.#uris.clear()
    for (const release of this.#releaseUris.splice(0)) release()
  }

  /** Notifies the client of changes, after `notifications/initialized` (basic/lifecycle). */
  async #listen(): Promise<void> {
    const client = this.#client
    if (client === undefined || this.#subscription !== undefined) return
    const caller = this.#caller
    const { notify } = this.#peer
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
    this.#subscription = new ChangeSubscription(
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
