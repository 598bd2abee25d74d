import { type CallContext, type CallingClient, callingClientKey, createCall, type Root, withContext } from '@x/schema'
import type { InputHandlers } from './input-handlers.ts'

/** A client as the connections of its calls know it. */
export interface ClientIdentity {
  /** The context of every call of the client. */
  readonly context: CallContext
  /** Reports that the client gave up a call whose questions came with this `requestState`. */
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

/** Servers of older revisions ask for roots when no call runs. */
async function listRootsOutsideCalls(roots: NonNullable<InputHandlers['roots']>): Promise<readonly Root[]> {
  const { signal } = new AbortController()
  return roots({ key: 'roots/list', method: 'initialize', target: undefined, round: 0, signal })
}
