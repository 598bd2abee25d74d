import { callListener, createLog, errorRecord } from '@x/core'
import type { StateErrorCode } from '../state-error.ts'

/**
 * How far a migration is. In `store`, new tokens are handles, and tokens of every kind open. In `dual`, new tokens have
 * a handle and a state, and the store's value is used. In `state-first`, new tokens have both, the state is used, and
 * the store is the fallback. In `state`, new tokens have only a state.
 */
export type MigrationPhase = 'store' | 'dual' | 'state-first' | 'state'

/** What an operator considers before the next phase begins. It never contains a token or a value. */
export interface MigrationEvent {
  /**
   * `mismatch`: the state and the store gave different results. `fallback`: the state did not open, but the store had
   * the value. `unsealable`: the value could not be sealed, so that the token is only a handle. `store_failed`: the
   * store could not be written, so that the token is only a state. `handle_only`: a token without a state arrived.
   */
  readonly type: 'mismatch' | 'fallback' | 'unsealable' | 'store_failed' | 'handle_only'
  readonly phase: MigrationPhase
  readonly purpose: string
  /** Code of the error with which the state did not open. */
  readonly code?: StateErrorCode | undefined
  readonly cause?: unknown
}

/** What one instance has counted since its start. */
export interface MigrationReport {
  readonly phase: MigrationPhase
  /** When counting began, in milliseconds since the epoch. */
  readonly since: number
  readonly sealedCount: number
  readonly openedCount: number
  readonly rejectedCount: number
  /** Tokens whose two parts gave the same result. */
  readonly agreedCount: number
  readonly mismatchCount: number
  readonly fallbackCount: number
  readonly unsealableCount: number
  readonly storeFailureCount: number
  readonly handleOnlyCount: number
  /** When something last spoke against the next phase, in milliseconds since the epoch. */
  readonly lastProblemAt: number | undefined
  /**
   * True if tokens were opened, and nothing has spoken against the next phase for a whole token lifetime. Advance when
   * it is true on every instance.
   */
  readonly canAdvance: boolean
  /** What to do next, as a sentence. */
  readonly advice: string
}

const problemEvents: Readonly<Record<MigrationPhase, ReadonlySet<MigrationEvent['type']>>> = {
  store: new Set(),
  dual: new Set(['mismatch', 'unsealable']),
  'state-first': new Set(['fallback', 'unsealable', 'handle_only']),
  state: new Set(['handle_only']),
}

const adviceByPhase: Readonly<Record<MigrationPhase, string>> = {
  store: 'When every instance runs this phase, advance to "dual"',
  dual: 'Advance to "state-first"',
  'state-first': 'Advance to "state"',
  state: 'Replace migratingState() by its state codec, and remove the store',
}

// An observer must fail neither what is sealed nor what is opened.
function logListenerError(error: unknown): void {
  createLog(undefined, '@x/state-codec')(errorRecord(error, { method: 'onEvent' }))
}

export class MigrationCounter {
  readonly #phase: MigrationPhase
  readonly #lifetimeMs: number
  readonly #now: () => number
  readonly #onEvent: ((event: MigrationEvent) => void) | undefined
  readonly #since: number
  readonly #counts = { sealed: 0, opened: 0, rejected: 0, agreed: 0 }
  readonly #eventCounts = { mismatch: 0, fallback: 0, unsealable: 0, store_failed: 0, handle_only: 0 }
  #lastProblemAt: number | undefined

  constructor(
    phase: MigrationPhase,
    { lifetimeMs, now }: { readonly lifetimeMs: number; readonly now: () => number },
    onEvent: ((event: MigrationEvent) => void) | undefined,
  ) {
    this.#phase = phase
    this.#lifetimeMs = lifetimeMs
    this.#now = now
    this.#onEvent = onEvent
    this.#since = now()
  }

  count(counterName: 'sealed' | 'opened' | 'rejected' | 'agreed'): void {
    this.#counts[counterName]++
  }

  record(event: Omit<MigrationEvent, 'phase'>): void {
    const phase = this.#phase
    this.#eventCounts[event.type]++
    if (problemEvents[phase].has(event.type)) this.#lastProblemAt = this.#now()
    if (this.#onEvent !== undefined) callListener(this.#onEvent, { ...event, phase }, logListenerError)
  }

  report(): MigrationReport {
    const { sealed, opened, rejected, agreed } = this.#counts
    const { mismatch, fallback, unsealable, store_failed: storeFailed, handle_only: handleOnly } = this.#eventCounts
    const canAdvance = opened > 0 && this.#now() - (this.#lastProblemAt ?? this.#since) >= this.#lifetimeMs
    return {
      phase: this.#phase,
      since: this.#since,
      sealedCount: sealed,
      openedCount: opened,
      rejectedCount: rejected,
      agreedCount: agreed,
      mismatchCount: mismatch,
      fallbackCount: fallback,
      unsealableCount: unsealable,
      storeFailureCount: storeFailed,
      handleOnlyCount: handleOnly,
      lastProblemAt: this.#lastProblemAt,
      canAdvance,
      advice: canAdvance ? adviceByPhase[this.#phase] : describeWait(this.#lastProblemAt, this.#lifetimeMs),
    }
  }
}

function describeWait(lastProblemAt: number | undefined, lifetimeMs: number): string {
  const waitCondition = `wait until tokens have opened and ${Math.ceil(lifetimeMs / 60_000)} minutes have passed without such an event`
  return lastProblemAt === undefined ? `Stay, and ${waitCondition}` : `Investigate the events, and ${waitCondition}`
}
