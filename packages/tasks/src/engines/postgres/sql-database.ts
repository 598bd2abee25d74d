import type { ChangeBus } from '@x/core'

/** A row of a result, by the names of the columns. */
export type SqlRow = Readonly<Record<string, unknown>>

/**
 * Runs one SQL statement with values for `$1`, `$2`, …, or several statements without values. Resolves with the rows of
 * all statements.
 */
export type Query = (text: string, values?: readonly unknown[]) => Promise<readonly SqlRow[]>

/** The functions of PostgreSQL that an engine needs. The database is on a server, or in this process. */
export interface SqlDatabase {
  /** Runs one statement in its own transaction. */
  readonly query: Query
  /**
   * Runs `work` in a transaction, which is committed when `work` resolves and rolled back when it rejects. Maintenance
   * has a longer time limit.
   */
  transaction<T>(work: (query: Query) => Promise<T>, options?: { readonly isMaintenance?: boolean }): Promise<T>
  /** The bus between the instances that use the same database. */
  readonly bus: ChangeBus
  close(): Promise<void>
}
