import { type Clock, isCancelled, raceWithCancellation, withTimeout } from '@x/core'
import type { Call, Connection, ConnectionState, Exchange, ProcessView } from '@x/exchange'
import type { RpcRequest, RpcResponse } from '@x/schema'
import { callingClientKey, ConnectionStateSource } from '@x/exchange/internal'
import { isLegacyError, LegacyError } from '../calls/legacy-error.ts'
import { SessionCalls, userOf } from '../calls/session-calls.ts'
import type { AnyConnection, LegacySettings, ServerPeer } from '../options.ts'
import { Negotiation, type NegotiationOptions, type Opening } from './negotiation.ts'
import type { Conversation, Transport } from './transport.ts'

export interface ConnectionOptions
  extends Pick<NegotiationOptions, 'revision' | 'sessionRevisions' | 'detectedRevisions' | 'serverKey'> {
  readonly settings: LegacySettings
  readonly clock: Clock
  readonly url: string
  readonly canMixPrincipals: boolean
  /** Loads the transport for the first request. `onEnd` is called when its process has ended. */
  readonly loadTransport: (onEnd: () => void) => Promise<Transport>
}

interface ConversationEntry {
  readonly promise: Promise<Conversation>
  conversation: Conversation | undefined
}

/** One connection keeps at most this many conversations, one for each principal. Beyond that, the oldest is ended. */
const maxConversations = 1000
const endTimeoutMs = 2000
const closedMessage = 'the connection was closed here before this request, so nothing was sent'

/**
 * One connection to a server of any revision, as its host sees it. A request goes straight to a server of 2026-07-28,
 * or into its principal's own session with an older one, which is begun again once if the server has forgotten it. Only
 * the first request loads the transport and detects the revision.
 */
export class StatefulConnection implements AnyConnection {
  readonly url: string
  readonly canMixPrincipals: boolean
  readonly #options: ConnectionOptions
  readonly #closeController = new AbortController()
  readonly #conversations = new Map<string, ConversationEntry>()
  readonly #states = new ConnectionStateSource()
  #openingCount = 0
  #endState: ConnectionState | undefined
  readonly #negotiation: Negotiation
  readonly #calls: SessionCalls
  #loading: Promise<Transport> | undefined
  #transport: Transport | undefined

  constructor(options: ConnectionOptions) {
    this.url = options.url
    this.canMixPrincipals = options.canMixPrincipals
    this.#options = options
    this.#negotiation = new Negotiation({ ...options, closed: this.closed })
    this.#calls = new SessionCalls(options.settings, options.clock)
  }

  get state(): ConnectionState {
    return this.#states.state
  }

  readonly onStateChange = this.#states.onStateChange

  get closed(): AbortSignal {
    return this.#closeController.signal
  }

  get peer(): ServerPeer | undefined {
    return this.#negotiation.peer
  }

  get process(): ProcessView | undefined {
    return this.#transport?.process?.view
  }

  readonly exchange: Exchange = async (request, call) => {
    if (isCancelled(call)) throw call.signal.reason
    this.closed.throwIfAborted()
    return this.#calls.resume(request, call) ?? this.#dispatch(request, call)
  }

  readonly notify: NonNullable<Connection['notify']> = async (notification, call) => {
    this.closed.throwIfAborted()
    const transport = await this.#load()
    if (this.#negotiation.revision === '2026-07-28') return transport.notify(notification, call)
    // If the option `headers` is a function, it reads the method and the params. A notification has no id.
    const key = await transport.sessionKeyOf({ ...notification, id: '' })
    const conversation = await this.#conversations.get(key)?.promise
    if (conversation?.revision !== 'older') throw new Error('No request has detected the revision of the server yet')
    await conversation.port.notify(notification)
  }

  async #dispatch(request: RpcRequest, call: Call, isSentAgain = false): Promise<RpcResponse> {
    const conversation = await raceWithCancellation(this.#converse(request, call), call)
    if (conversation.revision === 'none') return { ...conversation.error, id: request.id }
    if (conversation.revision === '2026-07-28') return this.#sendModern(request, call)
    try {
      return await this.#calls.serve(conversation.session, request, call)
    } catch (error) {
      if (!isLegacyError(error, 'session_ended')) throw error
      // basic/transports, session management: nothing has run at the server, so the request may be sent again in a new
      // session.
      if (!isSentAgain) {
        this.#forgetConversation(conversation)
        return this.#dispatch(request, call, true)
      }
      // A server that rejects the new session too means something else by its error.
      if (error.response === undefined) throw error
      return { ...error.response, id: request.id }
    }
  }

  /** The conversation of a request's principal. Two principals never share one (LDG-009). */
  async #converse(request: RpcRequest, call: Call): Promise<Conversation> {
    const transport = await this.#load()
    // After a restart, a process may be another program, so each new one is probed. A server at an address is probed
    // once.
    if (this.#negotiation.revision === '2026-07-28' && transport.process === undefined)
      return { revision: '2026-07-28' }
    const key = await transport.sessionKeyOf(request)
    const known = this.#conversations.get(key)
    if (known !== undefined) return known.promise
    const opening = { request, client: call.context.get(callingClientKey), user: userOf(request, call) }
    const promise = this.#open(transport, opening)
    const entry: ConversationEntry = { promise, conversation: undefined }
    this.#conversations.set(key, entry)
    const forget = (): void => {
      if (this.#conversations.get(key) === entry) this.#conversations.delete(key)
    }
    promise.then((conversation) => {
      if (conversation.revision === 'none') forget()
      else entry.conversation = conversation
    }, forget)
    this.#endOldest()
    return promise
  }

  #load(): Promise<Transport> {
    this.#loading ??= this.#options
      .loadTransport(() => this.#endSessions())
      .then((transport) => {
        this.#transport = transport
        transport.onStateChange((state) => this.#takeState(state))
        return transport
      })
    return this.#loading
  }

  async #open(transport: Transport, opening: Opening): Promise<Conversation> {
    const open = (): Promise<Conversation> =>
      transport.open(opening.request, (port) => this.#negotiation.negotiate(port, transport, opening))
    this.#openingCount += 1
    try {
      const conversation = await open().catch(async (error: unknown) => {
        if (!this.#negotiation.avoidsProbe(error, transport)) throw error
        this.closed.throwIfAborted()
        await transport.process?.replace()
        return open()
      })
      this.#states.open()
      return conversation
    } catch (error) {
      this.#reportNoServer(error)
      throw error
    } finally {
      this.#openingCount -= 1
      if (this.#endState !== undefined) this.#states.set(this.#endState)
      this.#endState = undefined
    }
  }

  /** Something answers at the address that is no server. The transport cannot know, because no single response says so. */
  #reportNoServer(error: unknown): void {
    if (!(error instanceof Error) || this.state.status !== 'connecting') return
    if (Reflect.get(error, 'status') !== undefined) this.#states.lose(error)
  }

  /**
   * If a process ended at the probe, another one is started without it, so this is not the end of the connection. It is
   * if the other one ends in the same way, which its transport does not report again.
   */
  #takeState(state: ConnectionState): void {
    const isEnd = state.status === 'closed' && this.#openingCount > 0
    this.#endState = isEnd ? state : undefined
    if (!isEnd) this.#states.set(state)
  }

  /** Sends a request of 2026-07-28. If the server rejects it as an older one would, detects the revision again. */
  async #sendModern(request: RpcRequest, call: Call): Promise<RpcResponse> {
    const transport = await this.#load()
    const outcome = await transport.exchange(request, call).then(
      (response) => ({ response }),
      (error: unknown) => ({ error }),
    )
    if (transport.isRefusal('error' in outcome ? outcome.error : outcome.response) && this.#negotiation.forget()) {
      this.#conversations.clear()
      const conversation = await raceWithCancellation(this.#converse(request, call), call)
      if (conversation.revision === 'older') return this.#calls.serve(conversation.session, request, call)
    }
    if ('error' in outcome) throw outcome.error
    return outcome.response
  }

  #endSessions(): void {
    for (const [key, { conversation }] of this.#conversations) {
      if (conversation === undefined) continue
      if (conversation.revision === 'older') conversation.session.end()
      this.#conversations.delete(key)
    }
  }

  #forgetConversation(conversation: Conversation & { readonly revision: 'older' }): void {
    conversation.session.end()
    for (const [key, entry] of this.#conversations)
      if (entry.conversation === conversation) this.#conversations.delete(key)
  }

  #endOldest(): void {
    const [oldest] = this.#conversations
    if (oldest === undefined || this.#conversations.size <= maxConversations) return
    const [key, { conversation }] = oldest
    this.#conversations.delete(key)
    if (conversation?.revision === 'older') conversation.session.end()
    void this.#endAtServer(conversation)
  }

  async #endAtServer(conversation: Conversation | undefined): Promise<void> {
    if (conversation?.revision !== 'older') return
    const createTimeoutError = (): Error => new Error('The end of the session was not answered')
    const limit = { timeoutMs: endTimeoutMs, clock: this.#options.clock, createTimeoutError }
    await withTimeout(limit, (signal) => conversation.port.end(signal)).catch(() => {})
  }

  async close(): Promise<void> {
    if (!this.closed.aborted) {
      const reason = this.#transport?.createError('closed', closedMessage) ?? new LegacyError('closed', closedMessage)
      this.#states.close(reason)
      this.#closeController.abort(reason)
      await Promise.all(Array.from(this.#conversations.values(), ({ conversation }) => this.#endAtServer(conversation)))
    }
    const transport = await this.#loading?.catch(() => undefined)
    await transport?.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
