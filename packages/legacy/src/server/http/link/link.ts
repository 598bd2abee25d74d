import type { RequestId } from '@x/schema'
import type { CallDeps } from '../../call/call-deps.ts'
import type { LegacyLink } from '../../session/options.ts'
import type { SessionStates } from '../../session/session-state.ts'
import { InstanceBus, type InstanceMessage, type MessageHandlers } from './instance-bus.ts'
import type { ContinueRound } from './link-context.ts'
import { LinkStore } from './link-store.ts'
import { LinkedRounds } from './linked-rounds.ts'
import { LinkedSessions } from './linked-sessions.ts'
import { RemoteReaders } from './remote-readers.ts'

/** Links this instance to the others that have the same store and bus. */
export class InstanceLink {
  readonly bus: InstanceBus
  readonly rounds: LinkedRounds
  readonly sessions: LinkedSessions
  readonly readers: RemoteReaders
  readonly #store: LinkStore
  readonly #deps: CallDeps
  readonly #closing = new AbortController()
  #markPromise: Promise<void> | undefined
  #isCatchingUp = false
  #isCatchUpDue = false

  constructor(
    { store: givenStore, bus }: LegacyLink,
    deps: CallDeps,
    { sessionStates, continueRound }: { readonly sessionStates: SessionStates; readonly continueRound: ContinueRound },
  ) {
    const sleep = (ms: number): Promise<void> => new Promise((resolve) => void deps.schedule(resolve, ms))
    const onUnavailable = (): void => {
      this.bus.noteGap()
      void this.#catchUp()
    }
    this.#deps = deps
    this.#store = new LinkStore(givenStore, { ...deps.settings, sleep, onUnavailable })
    this.bus = new InstanceBus(bus, this.#createMessageHandlers(sessionStates), { onGap: () => this.#catchUp(), deps })
    const context = { store: this.#store, bus: this.bus, deps, sessionStates, continueRound }
    this.sessions = new LinkedSessions(context)
    this.rounds = new LinkedRounds(context)
    this.readers = new RemoteReaders(context, this.rounds)
    deps.shareRounds(this.rounds)
  }

  /**
   * Resolves once this instance receives messages of the bus. If the bus cannot be reached, logs the error, and the
   * next call tries again.
   */
  async listen(): Promise<void> {
    await this.bus.listen()
    await (this.#markPromise ??= this.#markStore())
  }

  /** Marks the store, until that has succeeded once. */
  async #markStore(): Promise<void> {
    try {
      // The store may have been emptied in an outage that this instance did not see.
      if (await this.#store.mark()) this.bus.noteGap()
    } catch {
      // The request that follows meets the same failure and reports it.
      this.#markPromise = undefined
    }
  }

  /**
   * Repairs what the store or the bus may have lost, until that succeeds, because the store may be unreachable. Calling
   * it during a run causes one more run.
   */
  async #catchUp(): Promise<void> {
    this.#isCatchUpDue = true
    if (this.#isCatchingUp) return
    this.#isCatchingUp = true
    const { signal } = this.#closing
    try {
      while (this.#isCatchUpDue && !signal.aborted) await this.#deps.retryUnavailable(this.#catchUpOnce, { signal })
    } catch (error) {
      if (!signal.aborted) this.#deps.reportError(error)
    } finally {
      this.#isCatchingUp = false
    }
  }

  readonly #catchUpOnce = async (): Promise<void> => {
    this.#isCatchUpDue = false
    await this.readers.catchUp()
    await this.sessions.catchUp()
    await this.rounds.catchUp()
  }

  close(): void {
    this.#closing.abort()
    this.bus.close()
  }

  #createMessageHandlers(sessionStates: SessionStates): MessageHandlers {
    return {
      answered: ({ session, id }) => this.rounds.takeStoredAnswer(session, id),
      offered: ({ session, id }) => {
        if (this.rounds.hasQuestion(session, id)) this.bus.publish('waiting', { id })
      },
      adopted: ({ id }) => this.rounds.handOffRound(id),
      cancelled: (message) => cancelCall(message, sessionStates),
      looking: ({ session, id }) => this.readers.onLooking(id, session),
      asked: ({ id }) => this.readers.onAsked(id),
      finished: ({ id }) => this.readers.onFinished(id),
      session: ({ session }) => this.sessions.reload(session),
      listening: ({ session }) => sessionStates.find({ key: session })?.listeningStream?.end(),
    }
  }
}

function cancelCall({ session, id }: InstanceMessage, sessionStates: SessionStates): void {
  // Another instance made this JSON from a `RequestId`.
  const requestId = JSON.parse(id) as RequestId
  sessionStates.find({ key: session })?.calls.get(requestId)?.cancel()
}
