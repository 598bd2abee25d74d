import { type CallContext, createCall, withContext } from '@x/exchange'
import type { Root } from '@x/schema'
import { type CallingClient, callingClientKey } from '@x/exchange/internal'
import type { InputHandlers } from './input-handlers.ts'

/** Facts about a client in the context of its calls, for the connection that sends the calls. */
export interface ClientIdentity {
  /** The context of every call of the client. */
  readonly context: CallContext
  /**
   * Notifies the connection that the client has abandoned a call. The `requestState` of the last questions identifies
   * the call.
   */
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

/** Answers a `roots/list` request that belongs to no call. Servers of earlier revisions may send such requests. */
async function listRootsOutsideCalls(roots: NonNullable<InputHandlers['roots']>): Promise<readonly Root[]> {
  const { signal } = new AbortController()
  return roots({ key: 'roots/list', method: 'initialize', target: undefined, round: 0, signal })
}
