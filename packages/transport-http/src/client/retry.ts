import { computeBackoffMs, type Cancellable, type Clock, sleep } from '@x/core'
import type { RetryOptions } from './options.ts'

/** The settings of a step that may be tried again. */
export interface RetryContext {
  readonly retry: false | RetryOptions
  /** Returns true if nothing can have happened on the server. */
  readonly isUnsent: (error: unknown) => boolean
  /** The request that is tried; it is not tried again once it is cancelled. */
  readonly outgoing: Cancellable
  readonly clock: Clock
  readonly random: () => number
}

/** Runs a step again while its failures prove that nothing was sent, with growing pauses spread by chance. */
export async function withRetry<T>(operation: () => Promise<T>, context: RetryContext): Promise<T> {
  const { attempts = 3, pauseMs = 100, maxPauseMs = 2000 } = context.retry === false ? { attempts: 1 } : context.retry
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await operation()
    } catch (error) {
      if (attempt >= attempts || !context.isUnsent(error)) throw error
      const retryDelayMs = computeBackoffMs(attempt - 1, { firstMs: pauseMs, maxMs: maxPauseMs }, context.random)
      await sleep(retryDelayMs, { clock: context.clock, signal: context.outgoing.signal })
    }
  }
}
