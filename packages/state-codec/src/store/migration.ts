import type { StateErrorCode } from '../state-error.ts'

/**
 * Where a migration stands: `store` (handles alone are made, everything opens), `dual` (both are written, the store decides), `state-first` (both are
 * written, the state decides and the store helps), `state` (no store).
 */
export type MigrationPhase = 'store' | 'dual' | 'state-first' | 'state'

/** Something that an operator may want to see before the next phase. It never holds a token or a value. */
export interface MigrationEvent {
  /**
   * `mismatch`: state and store did not give the same. `fallback`: the state did not open, and the store did. `unsealable`: no state could be
   * made, and a handle alone was given. `store_failed`: the store could not be written, and a state alone was given. `handle_only`: a token
   * came without a state.
   */
  readonly type: 'mismatch' | 'fallback' | 'unsealable' | 'store_failed' | 'handle_only'
  readonly phase: MigrationPhase
  readonly purpose: string
  /** Why the state did not open, where it did not. */
  readonly code?: StateErrorCode | undefined
  readonly cause?: unknown
}

/** What one instance has counted since it started. */
export interface MigrationReport {
  readonly phase: MigrationPhase
  /** When the counting began, in milliseconds since the epoch. */
  readonly since: number
  readonly sealed: number
  readonly opened: number
  readonly refused: number
  /** Opened from both, with the same outcome. */
  readonly agreed: number
  readonly mismatched: number
  readonly fallbacks: number
  readonly unsealable: number
  readonly storeFailures: number
  readonly handlesOnly: number
  /** When the last event happened that speaks against the next phase. */
  readonly lastTroubleAt: number | undefined
  /** Whether a whole lifetime of tokens has passed here without such an event. Every instance must say so. */
  readonly mayMoveOn: boolean
  /** What to look at or to do next, in a sentence. */
  readonly advice: string
}

type Counter = 'sealed' | 'opened' | 'refused' | 'agreed'

/** Counts what a migration sees. */
export interface MigrationCount {
  count(counter: Counter): void
  note(event: Omit<MigrationEvent, 'phase'>): void
  report(): MigrationReport
}

/** What the counting needs to know. */
export interface CountOptions {
  readonly phase: MigrationPhase
  readonly lifetimeMs: number
  readonly now: () => number
  readonly onEvent: ((event: MigrationEvent) => void) | undefined
}

/** What speaks against leaving a phase. */
const troubles: Readonly<Record<MigrationPhase, ReadonlySet<MigrationEvent['type']>>> = {
  store: new Set(),
  dual: new Set(['mismatch', 'unsealable']),
  'state-first': new Set(['fallback', 'unsealable', 'handle_only']),
  state: new Set(['handle_only']),
}

const nextStep: Readonly<Record<MigrationPhase, string>> = {
  store: 'When every instance runs this phase, move to "dual"',
  dual: 'Move to "state-first"',
  'state-first': 'Move to "state"',
  state: 'Replace migrating() by its state codec, and remove the store',
}

/** Starts counting. */
export function countMigration({ phase, lifetimeMs, now, onEvent }: CountOptions): MigrationCount {
  const since = now()
  const counts = { sealed: 0, opened: 0, refused: 0, agreed: 0 }
  const events = { mismatch: 0, fallback: 0, unsealable: 0, store_failed: 0, handle_only: 0 }
  let lastTroubleAt: number | undefined
  const mayMoveOn = (): boolean => counts.opened > 0 && now() - (lastTroubleAt ?? since) >= lifetimeMs
  return {
    count: (counter) => void counts[counter]++,
    note(event) {
      events[event.type]++
      if (troubles[phase].has(event.type)) lastTroubleAt = now()
      onEvent?.({ ...event, phase })
    },
    report: () => ({
      phase,
      since,
      ...counts,
      mismatched: events.mismatch,
      fallbacks: events.fallback,
      unsealable: events.unsealable,
      storeFailures: events.store_failed,
      handlesOnly: events.handle_only,
      lastTroubleAt,
      mayMoveOn: mayMoveOn(),
      advice: mayMoveOn() ? nextStep[phase] : waiting(lastTroubleAt, lifetimeMs),
    }),
  }
}

function waiting(lastTroubleAt: number | undefined, lifetimeMs: number): string {
  const quiet = `wait until tokens have opened and ${Math.ceil(lifetimeMs / 60_000)} minutes have passed without trouble`
  return lastTroubleAt === undefined ? `Stay, and ${quiet}` : `Find out what the events were about, and ${quiet}`
}
