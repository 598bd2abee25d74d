import type { EngineNotifications } from './engine-notifications.ts'
import type { JobQueue } from './job-queue.ts'
import type { SqlDatabase } from './sql-database.ts'
import type { TableNames } from './tables.ts'

/** The state that the functions of an engine over SQL share. */
export interface SqlStore {
  readonly database: SqlDatabase
  readonly queue: JobQueue
  readonly tables: TableNames
  readonly leaseMs: number
  readonly notifications: EngineNotifications
  /** Notifies every instance that there is work. An instance that is not notified polls. */
  readonly notifyWork: () => void
  /** Notifies every instance that a task is to be cancelled. */
  readonly notifyCancel: (id: string) => void
}

/** True of a task whose time has not run out. */
export const notExpiredCondition = '(expires_at IS NULL OR expires_at > statement_timestamp())'

/** True of a task that has not ended. */
export const openTaskCondition = "status IN ('working', 'input_required')"

/** So many milliseconds from now, as a time. */
export function timeFromNowSql(msPlaceholder: string): string {
  return `statement_timestamp() + ${msPlaceholder}::float8 * interval '1 millisecond'`
}

/**
 * When a task expires that is to be kept for so many milliseconds from now, and never for less than before. A fixed
 * lifetime stays as it is.
 */
export function prolongedExpirySql(msPlaceholder: string): string {
  return `CASE WHEN fixed_lifetime THEN expires_at WHEN expires_at IS NULL OR ${msPlaceholder}::float8 IS NULL THEN NULL ELSE greatest(expires_at, ${timeFromNowSql(msPlaceholder)}) END`
}
