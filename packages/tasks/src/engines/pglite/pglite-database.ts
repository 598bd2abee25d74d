import { type ChangeBus, maxTimerMs } from '@x/core'
import { type PostgresConnection, type PostgresPool, postgresBus } from '@x/server/postgres'
import type { PoolSettings } from '../postgres/pool-database.ts'
import type { Query, SqlDatabase, SqlRow } from '../postgres/sql-database.ts'

/** What PGlite offers both inside and outside a transaction. */
export interface PgliteQueries {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>
  exec(text: string): Promise<readonly { readonly rows: readonly unknown[] }[]>
}

/** What is used of an open database of `@electric-sql/pglite`. */
export interface Pglite extends PgliteQueries {
  transaction<T>(work: (transaction: PgliteQueries) => Promise<T>): Promise<T>
  listen(channel: string, onNotification: (payload: string) => void): Promise<() => Promise<void>>
}

/** PGlite has one connection, so transactions run one after the other. */
export function createPgliteDatabase(
  pglite: Pglite,
  { channel, onError, end }: Pick<PoolSettings, 'channel' | 'onError' | 'end'>,
): SqlDatabase {
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
  // PGlite returns each row as an object whose keys are the columns.
  return rows as readonly SqlRow[]
}

/** The same as for a pool, so that messages and limits are the same. */
function createNotificationBus(pglite: Pglite, channel: string, onError: (error: unknown) => void): ChangeBus {
  const pool: PostgresPool = {
    query: ({ text, values = [] }) => pglite.query(text, values),
    connect: async () => createListeningConnection(pglite, channel, onError),
  }
  return postgresBus(pool, { channel, keepAliveMs: maxTimerMs, log: ({ err }) => err !== undefined && onError(err) })
}

/** Makes PGlite look like a connection of `pg`. The only query that the bus sends over it is LISTEN. */
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
      // Other events only report the loss of a connection, which cannot happen within a process.
      if (event === 'notification') onNotification = listener as typeof onNotification
    },
    release: () => void stopListening().catch(onError),
  }
}
