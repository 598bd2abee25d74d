import type { ChangeBus } from '@x/server'
import type { Query, SqlDatabase, SqlRow } from '../postgres/sql-database.ts'

/** The part of PGlite's API that is used in a transaction and outside. */
export interface PgliteQueries {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>
  exec(text: string): Promise<readonly { readonly rows: readonly unknown[] }[]>
}

/** The part of an open database of `@electric-sql/pglite` that is used. */
export interface Pglite extends PgliteQueries {
  transaction<T>(work: (transaction: PgliteQueries) => Promise<T>): Promise<T>
  listen(channel: string, heard: (payload: string) => void): Promise<() => Promise<void>>
}

/** The channel of notifications, and the function that closes the database. */
export interface PgliteSettings {
  readonly channel: string
  readonly onError: (error: unknown) => void
  readonly end: () => Promise<void>
}

/** A database in the process. It has one connection, and lets transactions wait for each other. */
export function pgliteDatabase(pglite: Pglite, { channel, onError, end }: PgliteSettings): SqlDatabase {
  const query = queryPglite(pglite)
  return {
    query,
    tend: query,
    transaction: (work) => pglite.transaction((transaction) => work(queryPglite(transaction))),
    bus: notificationBus(pglite, channel, onError),
    close: end,
  }
}

function queryPglite(queries: PgliteQueries): Query {
  return async (text, values) => {
    if (values !== undefined && values.length > 0) return pgliteRows(await queries.query(text, [...values]))
    return (await queries.exec(text)).flatMap(pgliteRows)
  }
}

function pgliteRows({ rows }: { readonly rows: readonly unknown[] }): readonly SqlRow[] {
  // A driver gives rows as objects by column.
  return rows as readonly SqlRow[]
}

/** A bus of topics for everything that uses the same database object; nothing is lost, for there is no connection to lose. */
function notificationBus(pglite: Pglite, channel: string, onError: (error: unknown) => void): ChangeBus {
  return {
    publish: async ({ topic }) => void (await pglite.query('SELECT pg_notify($1, $2)', [channel, topic])),
    listen: async ({ onChange }) => {
      const stop = await pglite.listen(channel, (topic) => onChange({ topic }))
      return () => void stop().catch(onError)
    },
  }
}
