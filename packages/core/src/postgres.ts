/**
 * A change bus over PostgreSQL.
 *
 * @module @x/core/postgres
 */

import { createBatchSender, maxWaitingCharacters } from './bus/batch-sender.ts'
import { BusError } from './bus/change-bus.ts'
import type { ConnectFunction } from './bus/connection.ts'
import { defaultTimeoutMs, createNetworkBus, type NetworkBus, type NetworkBusOptions } from './bus/network-bus.ts'
import { ignoreErrorEvents } from './ignore-error-events.ts'
import { importPeerDependency } from './import-peer-dependency.ts'

export { BusError, type BusErrorCode, isBusError } from './bus/change-bus.ts'
export { ignoreErrorEvents } from './ignore-error-events.ts'
export type { NetworkBus, NetworkBusOptions } from './bus/network-bus.ts'
export type { Change, ChangeBus, ChangeListener } from './bus/change-bus.ts'

/** A query of `pg`, with a time limit in milliseconds. */
export interface PostgresQuery {
  text: string
  values?: unknown[]
  query_timeout?: number
}

/** As much of a PostgreSQL pool as the bus uses. A `Pool` of `pg` has this type. */
export interface PostgresPool {
  query(query: PostgresQuery): Promise<unknown>
  connect(): Promise<PostgresConnection>
  /**
   * Calls a listener with each connection that the pool opens, before any caller gets it. If the pool lacks this
   * function, the application has to handle errors of connections that no caller has yet.
   */
  on?(event: 'connect', listener: (connection: PostgresConnection) => void): unknown
}

/** As much of a pool's connection as the bus uses. */
export interface PostgresConnection {
  query(query: PostgresQuery): Promise<unknown>
  on(event: 'error' | 'end', listener: (error?: unknown) => void): unknown
  on(event: 'notification', listener: (notification: PostgresNotification) => void): unknown
  /** Gives the connection back to the pool, or closes it if `shouldDestroy` is true. */
  release(shouldDestroy: boolean): void
}

/** What arrives on a channel. */
export interface PostgresNotification {
  readonly channel: string
  readonly payload?: string | undefined
}

/** The options of {@link postgresBus}. */
export interface PostgresBusOptions extends NetworkBusOptions {
  /**
   * Channel of this service: common to all its instances, and used by no other service of the database. Default:
   * `mcp_changes`.
   */
  readonly channel?: string | undefined
  /**
   * Pool for the listening connection, which needs a PostgreSQL session of its own. Default: the pool that publishes.
   * Give another one if that connects through a proxy that shares sessions, such as PgBouncer with transaction pooling.
   */
  readonly listenPool?: PostgresPool | undefined
}

/** PostgreSQL accepts less than 8000 bytes. */
const maxBytes = 7_999

/**
 * Carries changes by LISTEN and NOTIFY of PostgreSQL. Takes a URL, or your own pool, which is not closed. While it has
 * listeners, the bus keeps one connection of a pool. A URL needs the package `pg`.
 *
 * Publishing rejects with {@link BusError} `unavailable` when PostgreSQL cannot be reached in time or more than
 * 16,777,216 characters wait, and with `too_large` for data that exceeds a payload of 7999 bytes. If the topic alone
 * exceeds it, all listeners are notified of a gap instead. A lost listening connection is opened again after a pause
 * that grows with each failure, and that ends when PostgreSQL accepts a change; then all listeners are notified of a
 * gap. Set the `connectionTimeoutMillis` of a pool of your own: without it, a connection that is accepted and never
 * answered keeps its place in the pool. The pool's `max` must be at least 2, and `pool.end()` waits until the bus has no listeners.
 *
 * @throws TypeError for an invalid channel, and RangeError for an invalid time.
 */
export function postgresBus(database: string | PostgresPool, options: PostgresBusOptions = {}): NetworkBus {
  const { timeoutMs = defaultTimeoutMs } = options
  const { pool, close } = openPostgres(database, timeoutMs)
  const { listenPool = pool } = options
  const channel = requirePostgresChannel(options.channel ?? 'mcp_changes')
  handleConnectionErrors(pool)
  ignoreErrorEvents(listenPool)
  handleConnectionErrors(listenPool)
  const send = createBatchSender(
    // One transaction keeps the order of the texts. `pg_notify` takes the channel as a value. The commit does not wait
    // for the disk, because the notifications do not outlive the database server anyway.
    (texts) =>
      pool.query({
        text: `SELECT pg_notify($1, message) FROM set_config('synchronous_commit', 'off', true),
          unnest($2::text[]) WITH ORDINALITY AS sent (message, place) ORDER BY place`,
        values: [channel, texts],
        query_timeout: timeoutMs,
      }),
    () =>
      new BusError(
        'unavailable',
        `${maxWaitingCharacters} characters of changes already wait for PostgreSQL: publish fewer`,
      ),
  )
  const bus = createNetworkBus(
    {
      name: 'PostgreSQL',
      maxMessageBytes: maxBytes,
      connect: connectPostgres(listenPool, { channel, timeoutMs }),
      send,
      ping: () => pool.query({ text: 'SELECT 1', query_timeout: timeoutMs }),
      advice: 'is it running, and is a connection of the pool free besides the one that listens?',
    },
    options,
  )
  return { ...bus, close }
}

/**
 * A URL becomes a pool, which `close` closes; a given pool stays. The pool of a URL is created with the first query,
 * and only a query in flight keeps the process running.
 */
export function openPostgres<Pool>(
  database: string | Pool,
  timeoutMs = defaultTimeoutMs,
): {
  readonly pool: Pool | PostgresPool
  close(): Promise<void>
} {
  if (typeof database !== 'string') {
    ignoreErrorEvents(database)
    return { pool: database, close: async () => {} }
  }
  const create = async () => {
    const { default: pg } = await importPeerDependency('pg@8', () => import('pg'), 'A URL')
    const pool = new pg.Pool({
      connectionString: database,
      allowExitOnIdle: true,
      // Without it, a connection that is accepted and never answered would keep its place in the pool for ever.
      connectionTimeoutMillis: timeoutMs,
    })
    ignoreErrorEvents(pool)
    handleConnectionErrors(pool)
    return pool
  }
  let pool: ReturnType<typeof create> | undefined
  const open = (): ReturnType<typeof create> => (pool ??= create())
  return {
    pool: { query: async (query) => (await open()).query(query), connect: async () => (await open()).connect() },
    close: async () => (await pool?.catch(() => undefined))?.end(),
  }
}

function connectPostgres(
  pool: PostgresPool,
  { channel, timeoutMs }: { readonly channel: string; readonly timeoutMs: number },
): ConnectFunction {
  return async ({ handleMessage, handleLoss }, signal) => {
    const connection = await pool.connect()
    // Closed and not given back to the pool, because it still listens to the channel and has listeners attached.
    const releaseConnection = (): void => connection.release(true)
    // A pool cannot stop an attempt to connect, so a connection may arrive after the abort.
    if (signal.aborted) {
      releaseConnection()
      throw signal.reason
    }
    signal.addEventListener('abort', releaseConnection)
    // Without it, the first error of the connection would end the process.
    connection.on('error', handleLoss)
    connection.on('end', () => handleLoss(new Error('The connection has ended')))
    connection.on('notification', (notification) => {
      // The application may have used the connection before, for other channels.
      if (notification.channel === channel) handleMessage(notification.payload ?? '')
    })
    // LISTEN takes no parameters, so the channel name was checked against a grammar and is quoted here.
    await connection.query({ text: `LISTEN "${channel}"`, query_timeout: timeoutMs })
    return { ping: () => connection.query({ text: 'SELECT 1', query_timeout: timeoutMs }) }
  }
}

function requirePostgresChannel(channel: string): string {
  if (/^[a-z_][a-z0-9_]{0,62}$/.test(channel)) return channel
  const rule = 'use up to 63 small letters, digits and underscores, as in mcp_changes'
  throw new TypeError(`channel is ${JSON.stringify(channel)}: ${rule}`)
}

/** Several buses and engines may share a pool. */
const watchedPools = new WeakSet<object>()

/**
 * A database that is shutting down may accept a connection and end it in the same packet. That error is emitted before
 * the caller has the connection, and unhandled it would end the process.
 */
function handleConnectionErrors(pool: PostgresPool): void {
  if (watchedPools.has(pool)) return
  watchedPools.add(pool)
  pool.on?.('connect', ignoreConnectionErrors)
}

/** A pool returns the same connections repeatedly. */
const watchedConnections = new WeakSet<object>()

/**
 * Adds an error listener to a connection, once: without one an error ends the process. The error itself is not needed,
 * because the next query on the connection rejects.
 */
export function ignoreConnectionErrors(connection: PostgresConnection): void {
  if (watchedConnections.has(connection)) return
  watchedConnections.add(connection)
  connection.on('error', () => {})
}
