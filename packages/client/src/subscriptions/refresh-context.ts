import type { Clock } from '@x/core'
import type { OpenedPartition } from '../caching/cache-partition.ts'
import { ClientError } from '../request/client-error.ts'
import type { SendOnce } from '../request/request.ts'
import type { ListenFunction } from './listen.ts'
import type { ListenOptions } from './subscription.ts'

export interface RefreshContext {
  readonly listen: ListenFunction
  readonly sendOnce: SendOnce
  readonly partition: OpenedPartition
  readonly clock: Clock
  /**
   * Longest delay of requests after a change, in milliseconds. Random, so that a server's clients do not all send at
   * once.
   */
  readonly jitterMs: number
  /** Contain `signal`. */
  readonly options: ListenOptions
  /** Aborts when `keepFresh` ends. */
  readonly signal: AbortSignal
  readonly onError: (error: unknown) => void
}

/** For a subscription that the server ended for good. */
export function subscriptionEndedError(): ClientError {
  const reason = 'the server ended the subscription, and it is not opened again; allow more with reopen'
  return new ClientError('transport', reason, { method: 'subscriptions/listen' })
}

/** Runs work once for all requests since its last start. */
export function debounceWork(
  run: () => Promise<void>,
  onFailure: (error: unknown) => void,
  { jitterMs, clock }: Pick<RefreshContext, 'jitterMs' | 'clock'>,
): {
  /** Asks for the work, which begins within `jitterMs`. If it is running, it runs once more. */
  schedule(): void
  /** Prevents further work. Work that has begun continues. */
  stop(): void
} {
  let timer: unknown
  let state: 'idle' | 'waiting' | 'working' | 'again' | 'stopped' = 'idle'
  const onWorkEnd = (): void => {
    const mustRunAgain = state === 'again'
    if (state !== 'stopped') state = 'idle'
    if (mustRunAgain) requestWork()
  }
  const start = (): void => {
    state = 'working'
    run().catch(onFailure).finally(onWorkEnd)
  }
  const requestWork = (): void => {
    if (state === 'working') state = 'again'
    if (state !== 'idle') return
    state = 'waiting'
    timer = clock.setTimeout(start, Math.random() * jitterMs)
  }
  return {
    schedule: requestWork,
    stop: () => {
      state = 'stopped'
      clock.clearTimeout(timer)
    },
  }
}
