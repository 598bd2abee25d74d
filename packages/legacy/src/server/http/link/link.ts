import type { RequestId } from '@x/schema'
import type { CallDeps } from '../../call/call-deps.ts'
import type { LegacyLink } from '../../session/options.ts'
import type { SessionStates } from '../../session/session-state.ts'
import { createCatchUp, createMarkFunction } from './catch-up.ts'
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
  readonly #markStore: () => Promise<void>
  readonly #closing = new AbortController()

  constructor(
    { store: givenStore, bus }: LegacyLink,
    deps: CallDeps,
    { sessionStates, continueRound }: { readonly sessionStates: SessionStates; readonly continueRound: ContinueRound },
  ) {
    const sleep = (ms: number): Promise<void> => new Promise((resolve) => void deps.schedule(resolve, ms))
    const catchUp = createCatchUp(deps, this.#closing.signal, async () => {
      await this.readers.catchUp()
      await this.sessions.catchUp()
      await this.rounds.catchUp()
    })
    const onUnavailable = (): void => {
      this.bus.noteGap()
      void catchUp()
    }
    const store = new LinkStore(givenStore, { ...deps.settings, sleep, onUnavailable })
    this.bus = new InstanceBus(bus, this.#createMessageHandlers(sessionStates), { onGap: catchUp, deps })
    const context = { store, bus: this.bus, deps, sessionStates, continueRound }
    this.sessions = new LinkedSessions(context)
    this.rounds = new LinkedRounds(context)
    this.readers = new RemoteReaders(context, this.rounds)
    this.#markStore = createMarkFunction(context)
    deps.shareRounds(this.rounds)
  }

  /**
   * Resolves once this instance receives messages of the bus. If the bus cannot be reached, logs the error, and the
   * next call tries again.
   */
  async listen(): Promise<void> {
    await this.bus.listen()
    await this.#markStore()
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
