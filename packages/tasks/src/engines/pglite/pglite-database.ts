import { type ChangeBus, maxTimerMs } from '@x/core'
import { type PostgresConnection, type PostgresPool, postgresBus } from '@x/server/postgres'
import type { Query, SqlDatabase, SqlRow } from '../postgres/sql-database.ts'

/** The part of PGlite's API that is used in a transaction and outside. */
export interface PgliteQueries {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>
  exec(text: string): Promise<readonly { readonly rows: readonly unknown[] }[]>
}

/** The part of an open database of `@electric-sql/pglite` that is used. */
export interface Pglite extends PgliteQueries {
  transaction<T>(work: (transaction: PgliteQueries) => Promise<T>): Promise<T>
  listen(channel: string, onNotification: (payload: string) => void): Promise<() => Promise<void>>
}

/** The channel of notifications, and the function that closes the database. */
export interface PgliteDatabaseSettings {
  readonly channel: string
  readonly onError: (error: unknown) => void
  readonly end: () => Promise<void>
}

/** A database in the process. It has one connection, for which transactions wait. */
export function createPgliteDatabase(pglite: Pglite, { channel, onError, end }: PgliteDatabaseSettings): SqlDatabase {
  const query = createPgliteQuery(pglite)
  return {
    query,
    transaction: (work) => pglite.transaction((transaction) => work(createPgliteQuery(transaction))),
    bus: createNotificationBus(pglite, channel, onError),
    close: end,
  }
}

function createPgliteQuery(queries: PgliteQueries): Query {
  return async (text, values) => {
    if (values !== undefined && values.length > 0) return toSqlRows(await queries.query(text, [...values]))
    return (await queries.exec(text)).flatMap(toSqlRows)
  }
}

function toSqlRows({ rows }: { readonly rows: readonly unknown[] }): readonly SqlRow[] {
  // The rows of a driver are objects by column.
  return rows as readonly SqlRow[]
}

/** A bus for everything that uses the same database object, with the messages and the limits of the one over a pool. */
function createNotificationBus(pglite: Pglite, channel: string, onError: (error: unknown) => void): ChangeBus {
  const pool: PostgresPool = {
    query: ({ text, values = [] }) => pglite.query(text, values),
    connect: async () => createListeningConnection(pglite, channel, onError),
  }
  return postgresBus(pool, { channel, keepAliveMs: maxTimerMs, log: ({ err }) => onError(err) })
}

/** The one connection in the form of a pool's. Its only query is LISTEN. */
function createListeningConnection(
  pglite: Pglite,
  channel: string,
  onError: (error: unknown) => void,
): PostgresConnection {
  let onNotification = (_: { channel: string; payload?: string | undefined }): void => {}
  let stopListening = async (): Promise<void> => {}
  return {
    query: async () => {
      stopListening = await pglite.listen(channel, (payload) => onNotification({ channel, payload }))
    },
    on: (event: string, listener: (notification: never) => void) => {
      // Other events report the loss of a connection, which does not happen here.
      if (event === 'notification') onNotification = listener as typeof onNotification
    },
    release: () => void stopListening().catch(onError),
  }
}
