import { callerKeyOf, type HttpReply } from '@x/exchange'
import type { CallStream } from '../call-stream.ts'
import { rejectLostCall } from '../errors.ts'
import type { ParsedEventId } from '../event-id.ts'
import type { SessionPeer } from '../peer.ts'
import type { InstanceMessage } from './instance-bus.ts'
import type { LinkContext } from './link-context.ts'
import type { StoredResponse } from './link-store.ts'
import type { LinkedRounds } from './linked-rounds.ts'

const lookTimeoutMs = 500
const maxLooks = 4
const maxTries = 10
const lookIntervalMs = 2000

/** Clients here that read a stream whose call runs at another instance. */
export class RemoteReaders {
  readonly #context: LinkContext
  readonly #rounds: LinkedRounds
  readonly #readers = new Map<string, { readonly eventId: ParsedEventId; readonly peer: SessionPeer; end(): void }>()

  constructor(context: LinkContext, rounds: LinkedRounds) {
    this.#context = context
    this.#rounds = rounds
  }

  /** Resumes a stream that this instance does not have. Resolves with false if no instance has it. */
  async resume(eventId: ParsedEventId, peer: SessionPeer): Promise<boolean> {
    // If no instance answers, the message is sent a second time, because the one that runs the call may be slow. If an
    // instance is about to continue the call, the next try follows after a pause.
    let silenceCount = 0
    for (let tryCount = 0; tryCount < maxTries && silenceCount < 2; tryCount += 1) {
      const outcome = await this.#serve(eventId, peer)
      if (outcome === 'served') return true
      if (outcome === 'silent') silenceCount += 1
      else await this.#context.deps.sleep(lookTimeoutMs, new AbortController().signal)
    }
    return rejectLostCall(eventId, peer.view)
  }

  /**
   * Called when another instance looks for the stream of a client that is connected there. Responds if the stream is
   * here.
   */
  async onLooking(streamId: string, sessionKey: string): Promise<void> {
    const session = this.#context.sessionStates.find({ key: sessionKey })
    const stream = this.#findStream(sessionKey, streamId)
    if (session === undefined || stream === undefined) return
    stream.extendWindow({ hasRemoteReader: true })
    if (stream.lastResponse !== undefined) return this.#rounds.finish(streamId, session, stream.lastResponse)
    // The other instance continues the round of the store, which must not be an earlier one.
    if (stream.isAsking) await this.#rounds.restoreRound(streamId)
    this.#context.bus.publish(stream.isAsking ? 'asked' : 'running', { id: streamId })
  }

  /** Called when a round was stored. Continues it if a client reads its stream here. */
  async onAsked(streamId: string): Promise<void> {
    const reader = this.#readers.get(streamId)
    if (reader === undefined) return
    reader.end()
    const { reply } = reader.peer.view
    // The reader's connection is already open.
    const openedReply = { ...reply, open: () => {} }
    if (!(await this.#adoptRound(reader.eventId, reader.peer, openedReply))) reply.end()
  }

  /** Called when a response was stored. Sends it if a client reads its stream here. */
  async onFinished(streamId: string): Promise<void> {
    const reader = this.#readers.get(streamId)
    const storedResponse = reader && (await this.#context.store.getResponse(streamId))
    if (storedResponse === undefined || storedResponse.session !== reader?.peer.session.key) return
    if (this.#readers.get(streamId) !== reader) return
    reader.end()
    writeStoredResponse(reader.peer.view.reply, storedResponse)
  }

  /** Reads each stream that a client follows here from the store, because messages of the bus may have been lost. */
  async catchUp(): Promise<void> {
    for (const streamId of Array.from(this.#readers.keys())) await this.onFinished(streamId)
  }

  async #serve(eventId: ParsedEventId, peer: SessionPeer): Promise<'served' | 'silent' | 'changing'> {
    if (this.#resumeHere(eventId, peer) || (await this.#sendResponse(eventId, peer))) return 'served'
    const kind = await this.#findInstance(eventId.streamId, peer.session.key)
    if (kind === 'running') {
      this.#waitForCall(eventId, peer)
      // The call may have ended before the reader was registered.
      await this.onFinished(eventId.streamId)
      return 'served'
    }
    if ((await this.#sendResponse(eventId, peer)) || (await this.#adoptRound(eventId, peer))) return 'served'
    // While other instances were asked, an answer may have continued the call here.
    if (this.#resumeHere(eventId, peer)) return 'served'
    return kind === undefined ? 'silent' : 'changing'
  }

  #resumeHere({ streamId, eventNumber }: ParsedEventId, { session, view }: SessionPeer): boolean {
    const stream = this.#findStream(session.key, streamId)
    stream?.resume(view.reply, eventNumber)
    return stream !== undefined
  }

  #findStream(sessionKey: string, streamId: string): CallStream | undefined {
    // All entries are `CallStream`s, because `serveRequests` registers them.
    return this.#context.sessionStates.find({ key: sessionKey })?.streams.get(streamId) as CallStream | undefined
  }

  async #findInstance(streamId: string, session: string): Promise<InstanceMessage['kind'] | undefined> {
    const { bus } = this.#context
    for (let lookCount = 0; lookCount < maxLooks; lookCount += 1) {
      const message = bus.waitForMessage(['running', 'asked', 'finished'], streamId, lookTimeoutMs)
      bus.publish('looking', { id: streamId, session })
      const kind = await message
      if (kind !== undefined) return kind
    }
    return undefined
  }

  async #sendResponse(eventId: ParsedEventId, { session, view }: SessionPeer): Promise<boolean> {
    const storedResponse = await this.#context.store.getResponse(eventId.streamId)
    if (storedResponse?.session !== session.key) return false
    view.reply.open()
    writeStoredResponse(view.reply, storedResponse)
    return true
  }

  /**
   * Continues a stored round here, unless an instance has claimed it. Resolves with false if there is no such round.
   */
  async #adoptRound(eventId: ParsedEventId, peer: SessionPeer, reply = peer.view.reply): Promise<boolean> {
    const round = await this.#rounds.findByStream(eventId.streamId, peer.session.key)
    if (round === undefined || (await this.#context.store.isClaimed(round.id))) return false
    const stream = this.#rounds.adopt(round, peer, eventId.eventNumber)
    stream?.resume(reply, eventId.eventNumber)
    return stream !== undefined
  }

  /**
   * Keeps a reader while its call runs at another instance. If that one ends, the connection is closed, so that the
   * client resumes the stream again.
   */
  #waitForCall(eventId: ParsedEventId, peer: SessionPeer): void {
    const { deps } = this.#context
    const { streamId } = eventId
    const { reply } = peer.view
    const release = deps.ledger.take('streams', callerKeyOf(peer.view))
    let cancelLook = (): void => {}
    const end = (): void => {
      if (this.#readers.get(streamId) !== reader) return
      this.#readers.delete(streamId)
      cancelLook()
      release()
    }
    const reader = { eventId, peer, end }
    const lookAgain = async (): Promise<void> => {
      const kind = await this.#findInstance(streamId, peer.session.key)
      if (this.#readers.get(streamId) !== reader) return
      if (kind !== undefined) return scheduleLook()
      end()
      reply.end()
    }
    const scheduleLook = (): void => {
      cancelLook = deps.schedule(() => void lookAgain().catch(deps.reportError), lookIntervalMs)
    }
    this.#readers.get(streamId)?.end()
    this.#readers.set(streamId, reader)
    reply.onClose(end)
    reply.open()
    scheduleLook()
  }
}

function writeStoredResponse(reply: HttpReply, storedResponse: StoredResponse): void {
  // A client that resumes has not received the response, so it is always sent.
  reply.write(storedResponse.text)
  reply.end()
}
