import type { ChangeBus } from '@x/core'

/** A row of a result, by column. */
export type SqlRow = Readonly<Record<string, unknown>>

/**
 * Runs one SQL statement with values for `$1`, `$2`, …, or several statements without values, and resolves with the
 * rows of all.
 */
export type Query = (text: string, values?: readonly unknown[]) => Promise<readonly SqlRow[]>

/** What an engine needs of PostgreSQL, on a server or in this process. */
export interface SqlDatabase {
  /** Runs one statement in its own transaction. */
  readonly query: Query
  /** Commits when `work` resolves, and rolls back when it rejects. Maintenance has a longer time limit. */
  transaction<T>(work: (query: Query) => Promise<T>, options?: { readonly isMaintenance?: boolean }): Promise<T>
  /** Connects the instances that use the same database. */
  readonly bus: ChangeBus
  close(): Promise<void>
}
