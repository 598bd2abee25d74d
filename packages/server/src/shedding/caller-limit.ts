import { quotaError } from '@x/schema'
import { DefinitionError } from '../request/definition-error.ts'

/** The calls that each caller has at once, and how many it may have. */
export interface CallerLimit {
  readonly max: number
  readonly retryAfterMs: number
  /** Calls that run, by the key of their caller; callers without one are absent. */
  readonly runningByCaller: Map<string, number>
}

const defaultMaxCalls = 1000

/** Makes the limit of a server. Throws {@link DefinitionError} for a number that makes no sense. */
export function createCallerLimit(maxCallsPerCaller = defaultMaxCalls, retryAfterMs: number): CallerLimit {
  if (!(maxCallsPerCaller >= 1)) {
    const reason = `maxCallsPerCaller is ${maxCallsPerCaller}; write a number from 1`
    throw new DefinitionError('value', 'server', { reason })
  }
  return { max: maxCallsPerCaller, retryAfterMs, runningByCaller: new Map() }
}

/** Rejects a call whose caller has as many at once as one may have. A call that is answered at once never counts. */
export function checkCallerLimit({ max, retryAfterMs, runningByCaller: running }: CallerLimit, caller: string): void {
  if ((running.get(caller) ?? 0) < max) return
  throw quotaError({ limit: 'maxCallsPerCaller', max, retryAfterMs, advice: 'wait for the answer to another call' })
}

/** Adds one to a count. */
export function incrementCount(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

/** Takes one from a count, which is forgotten at zero. */
export function decrementCount(counts: Map<string, number>, key: string): void {
  const remainingCount = (counts.get(key) ?? 0) - 1
  if (remainingCount > 0) counts.set(key, remainingCount)
  else counts.delete(key)
}
