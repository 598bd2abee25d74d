import type { EngineNotifications } from './engine-notifications.ts'
import type { SqlDatabase } from './sql-database.ts'
import type { TableNames } from './tables.ts'

/** The state that the functions of an engine over SQL share. */
export interface SqlStore {
  readonly database: SqlDatabase
  readonly tables: TableNames
  readonly leaseMs: number
  readonly notifications: EngineNotifications
  /** Notifies every instance of work. A lost notification costs time only, because workers poll as well. */
  readonly notifyWork: () => void
  /** Notifies every instance that a claimed task was cancelled. */
  readonly notifyCancel: (id: string) => void
}

/** True of a task whose lifetime is not over. */
export const notExpiredCondition = '(expires_at IS NULL OR expires_at > statement_timestamp())'

/** True of a task that has not ended. */
export const openTaskCondition = "status IN ('working', 'input_required')"

/** The time so many milliseconds from now. */
export function timeFromNowSql(msPlaceholder: string): string {
  return `statement_timestamp() + ${msPlaceholder}::float8 * interval '1 millisecond'`
}

/** The end of a lifetime of so many milliseconds from now. It never moves back, and a fixed one never moves. */
export function prolongedExpirySql(msPlaceholder: string): string {
  return `CASE WHEN fixed_lifetime THEN expires_at WHEN expires_at IS NULL OR ${msPlaceholder}::float8 IS NULL THEN NULL ELSE greatest(expires_at, ${timeFromNowSql(msPlaceholder)}) END`
}

/** Assigns the end of a claim to a row. The task is due at a time, or never. */
export function endClaimSql(dueAtSql: string): string {
  return `due_at = ${dueAtSql}, leased = false, token = NULL, worker = NULL`
}

/** Runs a write that makes a task ready. The workers are notified also when it rejects, for it may have had its effect. */
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
