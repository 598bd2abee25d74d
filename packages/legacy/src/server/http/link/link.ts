import { callerKeyOf } from '@x/exchange'
import type { RequestId } from '@x/schema'
import { joinRoundStores } from '../../call/round-store.ts'
import type { WaitingRound } from '../../call/waiting-round.ts'
import type { CallDeps } from '../../call/call-deps.ts'
import { adoptRound } from '../adopt-round.ts'
import type { HttpDeps, InstanceLink, SessionPeer } from '../http-deps.ts'
import type { LegacyLink } from '../../session/options.ts'
import type { CallStream } from '../call-stream.ts'
import { createInstanceBus, type InstanceMessage } from './instance-bus.ts'
import type { LinkContext } from './link-context.ts'
import { createLinkStore } from './link-store.ts'
import { createLinkedRounds, type LinkedRounds } from './linked-rounds.ts'
import { createLinkedSessions } from './linked-sessions.ts'
import { createRemoteReaders } from './remote-readers.ts'

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
    handlers: {
      answered: ({ session, id }) => rounds.takeStoredAnswer(session, id),
      offered: ({ session, id }) => {
        if (rounds.hasQuestion(session, id)) bus.publish('waiting', { id })
      },
      adopted: ({ id }) => rounds.handOffRound(id),
      cancelled: (message) => cancelCall(message, getHttpDeps()),
      looking: ({ session, id }) => readers.onLooking(id, session),
      asked: ({ id }) => readers.onAsked(id),
      finished: ({ id }) => readers.onFinished(id),
      session: ({ session }) => sessions.reload(session),
      listening: ({ session }) => getHttpDeps().sessionStates.find({ key: session })?.listeningStream?.end(),
    },
    onGap: catchUp,
    deps,
  })
  const context = { store, bus, deps, getHttpDeps }
  const sessions = createLinkedSessions(context)
  const rounds = createLinkedRounds(context)
  const adopt = (round: WaitingRound, peer: SessionPeer, lastEventNumber?: number) =>
    adoptFromLink(round, peer, { lastEventNumber, rounds, context })
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

/**
 * Returns a function that runs `catchUp` until it succeeds, because the store may be unreachable or have lost records.
 * A call during a run causes one more run.
 */
function createCatchUp(
  { retryUnavailable, reportError }: Pick<CallDeps, 'retryUnavailable' | 'reportError'>,
  signal: AbortSignal,
  catchUp: () => Promise<void>,
): () => Promise<void> {
  let isRunning = false
  let isDue = false
  const runOnce = async (): Promise<void> => {
    isDue = false
    await catchUp()
  }
  return async () => {
    isDue = true
    if (isRunning) return
    isRunning = true
    try {
      while (isDue && !signal.aborted) await retryUnavailable(runOnce, { signal })
    } catch (error) {
      if (!signal.aborted) reportError(error)
    } finally {
      isRunning = false
    }
  }
}

function cancelCall({ session, id }: InstanceMessage, { sessionStates }: HttpDeps): void {
  // `cancelRequest` of the other instance made this JSON from a `RequestId`.
  const requestId = JSON.parse(id) as RequestId
  sessionStates.find({ key: session })?.calls.get(requestId)?.cancel()
}

interface LinkAdoption {
  readonly lastEventNumber: number | undefined
  readonly rounds: LinkedRounds
  readonly context: LinkContext
}

function adoptFromLink(
  round: WaitingRound,
  peer: SessionPeer,
  { lastEventNumber, rounds, context: { store, deps, getHttpDeps } }: LinkAdoption,
): CallStream | undefined {
  const stream = adoptRound(round, peer, { http: getHttpDeps(), lastEventNumber })
  if (stream === undefined) return undefined
  rounds.announceAdoption(round)
  // Another instance may have claimed the round before this instance began to watch the round. The message about the
  // claim was missed in that case, so the store is checked.
  const leaveClaimedRound = async (): Promise<void> => {
    if (await store.isClaimedElsewhere(round.id)) rounds.handOffRound(round.id)
  }
  leaveClaimedRound().catch(deps.reportError)
  return stream
}

/** Returns a function that marks the store, until it has succeeded once. */
function createMarkFunction({ store, bus }: LinkContext): () => Promise<void> {
  let markPromise: Promise<void> | undefined
  const mark = async (): Promise<void> => {
    try {
      // This instance did not see the outage of a store that was emptied before.
      if (await store.mark()) bus.noteGap()
    } catch {
      // The request that follows meets the same failure and reports it.
      markPromise = undefined
    }
  }
  return () => (markPromise ??= mark())
}
