import type { EngineNotifications } from '../engine-notifications.ts'
import type { SqlDatabase } from './sql-database.ts'
import type { TableNames } from './tables.ts'

export interface SqlStore {
  readonly database: SqlDatabase
  readonly tables: TableNames
  readonly leaseMs: number
  readonly notifications: EngineNotifications
  /**
   * Notifies every instance that a task is ready. If that is lost, it only causes a delay, because workers also poll.
   */
  readonly notifyWork: () => void
  /** Notifies every instance that a claimed task was cancelled. */
  readonly notifyCancel: (id: string) => void
}

export const notExpiredCondition = '(expires_at IS NULL OR expires_at > statement_timestamp())'

export const openTaskCondition = "status IN ('working', 'input_required')"

/** A number of milliseconds from now. */
export function timeFromNowSql(msPlaceholder: string): string {
  return `statement_timestamp() + ${msPlaceholder}::float8 * interval '1 millisecond'`
}

/**
 * Moves the end of a lifetime to a number of milliseconds from now, but never to an earlier time. A fixed end does not
 * change.
 */
export function prolongedExpirySql(msPlaceholder: string): string {
  return `CASE WHEN fixed_lifetime THEN expires_at WHEN expires_at IS NULL OR ${msPlaceholder}::float8 IS NULL THEN NULL ELSE greatest(expires_at, ${timeFromNowSql(msPlaceholder)}) END`
}

/** Ends a worker's claim on a row. The task is next due at `dueAtSql`, or never if that is NULL. */
export function endClaimSql(dueAtSql: string): string {
  return `due_at = ${dueAtSql}, leased = false, token = NULL, worker = NULL`
}

/**
 * Awaits a write that may make a task ready, and then notifies the workers, even if it rejects: it may have had its
 * effect.
 */
export async function notifyWorkAfter<T>(
  { notifyWork }: SqlStore,
  write: Promise<T>,
  isReady: (value: T) => boolean,
): Promise<T> {
  let isNotified = true
  try {
    const value = await write
    isNotified = isReady(value)
    return value
  } finally {
    if (isNotified) notifyWork()
  }
}
