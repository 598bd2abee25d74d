import { type Ledger, sleep, errorRecord, retryUnavailable, type Schedule } from '@x/core'
import type { Call, Exchange, ExtensionHost } from '@x/exchange'
import type { Implementation } from '@x/schema'
import type { LegacySettings } from './options.ts'

export type Caller = Pick<Call, 'principal' | 'context'>

/** What the parts of the adapters share. */
export interface Deps {
  readonly exchange: Exchange
  readonly serverInfo: Implementation
  readonly settings: LegacySettings
  readonly ledger: Ledger
  /** Counts the work between two runs of a handler as load of the server, until the returned function is called. */
  readonly beginWork: () => () => void
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly reportError: (error: unknown) => void
  /** Runs a function once after `ms` milliseconds. The returned function cancels the timer. */
  readonly schedule: Schedule
  /** Resolves after `ms` milliseconds. Rejects with the signal's reason if it aborts before. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /**
   * Runs an operation on a store, and repeats it while the store is unreachable. Rejects with the last error after
   * `timeoutMs`, by default as long as a question waits for its answer, or with the signal's reason.
   */
  readonly retryUnavailable: <T>(
    operation: () => Promise<T>,
    options: { readonly signal?: AbortSignal; readonly timeoutMs?: number },
  ) => Promise<T>
}

export function createDeps(host: ExtensionHost, settings: LegacySettings): Deps {
  const { exchange, info, runtime, ledger, beginWork, log } = host
  const schedule: Schedule = (run, ms) => {
    const timer = runtime.setTimeout(run, ms)
    return () => runtime.clearTimeout(timer)
  }
  return {
    exchange,
    serverInfo: info,
    settings,
    ledger,
    beginWork,
    now: runtime.now,
    reportError: (error) => log(errorRecord(error, { method: 'extension' })),
    schedule,
    sleep: (ms, signal) => sleep(ms, { clock: runtime, signal }),
    retryUnavailable: (operation, { signal, timeoutMs = settings.answerTimeoutMs }) =>
      retryUnavailable(operation, { clock: runtime, signal, timeoutMs }),
  }
}
