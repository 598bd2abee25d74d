import { type CallContext, createCall, type Root, withContext } from '@x/schema'
import { type CallingClient, callingClientKey } from '@x/schema/internal'
import type { InputHandlers } from './input-handlers.ts'

/** The facts about a client that travel in the context of its calls, for the connection that sends them. */
export interface ClientIdentity {
  /** The context of every call of the client. */
  readonly context: CallContext
  /** Notifies the connection that the client abandoned a call, named by the `requestState` of its last questions. */
  abandonRound(requestState: string | undefined, reason: unknown): void
}

/** Creates the identity of one client. */
export function createClientIdentity({ roots }: InputHandlers): ClientIdentity {
  const abandonListeners = new Map<string, (reason: unknown) => void>()
  const callingClient: CallingClient = {
    ...(roots !== undefined && { listRoots: () => listRootsOutsideCalls(roots) }),
    onRoundAbandoned(requestState, run) {
      abandonListeners.set(requestState, run)
      return () => void abandonListeners.delete(requestState)
    },
  }
  return {
    context: withContext(createCall(), callingClientKey, callingClient).context,
    abandonRound(requestState, reason) {
      if (requestState !== undefined) abandonListeners.get(requestState)?.(reason)
    },
  }
}

/** Answers `roots/list` while no call runs, as servers of earlier revisions may ask. */
async function listRootsOutsideCalls(roots: NonNullable<InputHandlers['roots']>): Promise<readonly Root[]> {
  const { signal } = new AbortController()
  return roots({ key: 'roots/list', method: 'initialize', target: undefined, round: 0, signal })
}
