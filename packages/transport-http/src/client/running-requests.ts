import { addToList, removeFromList, type IndexedEntry } from '../indexed-list.ts'
import type { Call } from '@x/exchange'
import { createCallLimiter } from './call-limiter.ts'
import type { EndpointState } from './endpoint-state.ts'
import { startTimeoutWatch, type TimeoutWatch } from './timeout-watch.ts'

/**
 * Starts the time limit of a request, and then the request itself, which may have to wait for other calls. `start`
 * receives a function that it must call when the request has ended.
 */
export type BeginRequest = (
  call: Pick<Call, 'signal'>,
  request: {
    /** False for a request that waits for no other one. */
    readonly isCall: boolean
    readonly start: (timeoutWatch: TimeoutWatch, end: () => void) => void
    readonly onStop: (reason: unknown) => void
  },
) => void

/** A connection's requests that run, or wait for others. */
export function createRunningRequests({ clock, endpoint }: Pick<EndpointState, 'clock' | 'endpoint'>): {
  readonly beginRequest: BeginRequest
  /** Stops all requests, when the connection is closed. */
  stopAll(reason: unknown): void
} {
  const runningRequests: (IndexedEntry & { readonly timeoutWatch: TimeoutWatch })[] = []
  const beginCall = createCallLimiter()
  const beginRequest: BeginRequest = (call, { isCall, start, onStop }) => {
    let endCall = (): void => {}
    const stop = (reason: unknown): void => {
      endCall()
      onStop(reason)
    }
    const timeoutWatch = startTimeoutWatch(call, { clock, origin: endpoint.origin }, stop)
    const entry = { timeoutWatch, index: -1 }
    addToList(runningRequests, entry)
    const end = (): void => {
      endCall()
      timeoutWatch.end()
      removeFromList(runningRequests, entry)
    }
    if (isCall) endCall = beginCall(() => start(timeoutWatch, end))
    else start(timeoutWatch, end)
  }
  const stopAll = (reason: unknown): void => {
    for (const { timeoutWatch } of runningRequests.slice()) timeoutWatch.stop(reason)
  }
  return { beginRequest, stopAll }
}
