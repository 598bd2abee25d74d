import type { RequestId } from '@x/schema'
import type { HttpDeps } from '../http-deps.ts'
import type { InstanceBus, InstanceMessage, MessageHandlers } from './instance-bus.ts'
import type { LinkedRounds } from './linked-rounds.ts'
import type { createLinkedSessions } from './linked-sessions.ts'
import type { RemoteReaders } from './remote-readers.ts'

interface LinkedState {
  readonly bus: InstanceBus
  readonly rounds: LinkedRounds
  readonly readers: RemoteReaders
  readonly sessions: Pick<ReturnType<typeof createLinkedSessions>, 'reload'>
}

/** What this instance does when another one tells it something. */
export function createMessageHandlers(getState: () => LinkedState, getHttpDeps: () => HttpDeps): MessageHandlers {
  return {
    answered: ({ session, id }) => getState().rounds.takeStoredAnswer(session, id),
    offered: ({ session, id }) => {
      const { rounds, bus } = getState()
      if (rounds.hasQuestion(session, id)) bus.publish('waiting', { id })
    },
    adopted: ({ id }) => getState().rounds.handOffRound(id),
    cancelled: (message) => handleCancel(message, getHttpDeps()),
    looking: ({ session, id }) => getState().readers.onLooking(id, session),
    asked: ({ id }) => getState().readers.onAsked(id),
    finished: ({ id }) => getState().readers.onFinished(id),
    session: ({ session }) => getState().sessions.reload(session),
    listening: ({ session }) => getHttpDeps().sessionStates.find({ key: session })?.listeningStream?.end(),
  }
}

function handleCancel({ session, id }: InstanceMessage, { sessionStates }: HttpDeps): void {
  // `cancelRequest` of the other instance made this JSON from a `RequestId`.
  const requestId = JSON.parse(id) as RequestId
  sessionStates.find({ key: session })?.calls.get(requestId)?.cancel()
}
