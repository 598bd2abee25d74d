import { callerKeyOf } from '@x/exchange'
import { joinRoundStores } from '../../call/round-store.ts'
import type { CallDeps } from '../../call/call-deps.ts'
import type { HttpDeps, InstanceLink } from '../http-deps.ts'
import type { LegacyLink } from '../../session/options.ts'
import { createInstanceBus } from './instance-bus.ts'
import { createCatchUp, createMarkFunction } from './catch-up.ts'
import { createLinkStore } from './link-store.ts'
import { createLinkedRounds } from './linked-rounds.ts'
import { createLinkedSessions } from './linked-sessions.ts'
import { createMessageHandlers } from './message-handlers.ts'
import { createAdopt, createRemoteReaders } from './remote-readers.ts'

/** Connects this instance with the others that have the same store and bus. */
export function createLink(link: LegacyLink, deps: CallDeps, getHttpDeps: () => HttpDeps): InstanceLink {
  const sleep = (ms: number): Promise<void> => new Promise((resolve) => void deps.schedule(resolve, ms))
  const closing = new AbortController()
  const catchUp = createCatchUp(deps, closing.signal, async () => {
    await readers.catchUp()
    await sessions.catchUp()
    await rounds.catchUp()
  })
  const onUnavailable = (): void => {
    bus.noteGap()
    void catchUp()
  }
  const store = createLinkStore(link.store, { ...deps.settings, sleep, onUnavailable })
  const bus = createInstanceBus(link.bus, {
    // The constants below are initialized before the first message arrives.
    handlers: createMessageHandlers(() => ({ bus, rounds, readers, sessions }), getHttpDeps),
    onGap: catchUp,
    deps,
  })
  const context = { store, bus, deps, getHttpDeps }
  const sessions = createLinkedSessions(context)
  const rounds = createLinkedRounds(context)
  const adopt = createAdopt(rounds, context)
  const readers = createRemoteReaders(context, rounds, adopt)
  const markStore = createMarkFunction(context)
  deps.rounds = deps.stateRounds === undefined ? rounds : joinRoundStores(rounds, deps.stateRounds)
  return {
    async listen() {
      await bus.listen()
      await markStore()
    },
    watchRound: (round, callerKey, handOff) => rounds.watch(round, callerKey, handOff),
    shareAnswer: (response) => rounds.shareAnswer(response),
    takeAnswer: (response, peer) => rounds.takeAnswer(response, peer, (round) => void adopt(round, peer)),
    finishCall(streamId, { session, view }, response) {
      const owner = { key: session.key, callerKey: callerKeyOf(view) }
      return rounds.finish(streamId, owner, response).catch(deps.reportError)
    },
    announceQuestions: (streamId) => bus.publish('asked', { id: streamId }),
    resume: (eventId, peer) => readers.resume(eventId, peer),
    cancelRequest: ({ key }, id) => bus.publish('cancelled', { session: key, id: JSON.stringify(id) }),
    openSession: (session, caller) => sessions.open(session, callerKeyOf(caller)),
    changeSession: (session, caller, change) => sessions.change(session, callerKeyOf(caller), change),
    announceListening: ({ key }) => bus.publish('listening', { session: key }),
    drain: () => rounds.drain(),
    close() {
      closing.abort()
      bus.close()
    },
  }
}
