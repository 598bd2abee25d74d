/**
 * A bus of changes over PostgreSQL.
 *
 * @module @x/core/postgres
 */

import { createBatchSender, maxWaitingCharacters } from './bus/batch-sender.ts'
import { BusError, type ChangeBus } from './bus/change-bus.ts'
import type { ConnectFunction } from './bus/connection.ts'
import { defaultTimeoutMs, createNetworkBus, type NetworkBusOptions } from './bus/network-bus.ts'

export { BusError, type BusErrorCode } from './bus/change-bus.ts'
export type { NetworkBusOptions } from './bus/network-bus.ts'
export type { Change, ChangeBus, ChangeListener } from './bus/change-bus.ts'

/** A query with a time limit, in milliseconds, as `pg` takes it. */
export interface PostgresQuery {
  text: string
  values?: unknown[]
  query_timeout?: number
}

/** The part of a PostgreSQL pool that the bus uses: a `Pool` of `pg` is one. */
export interface PostgresPool {
  query(query: PostgresQuery): Promise<unknown>
  connect(): Promise<PostgresConnection>
  /**
   * Announces each connection that the pool opens, before any caller gets it. Without this the application handles the
   * errors of connections that no caller has yet.
   */
  on?(event: 'connect', listener: (connection: PostgresConnection) => void): unknown
}

/** The part of a pool's connection that the bus uses. */
export interface PostgresConnection {
  query(query: PostgresQuery): Promise<unknown>
  on(event: 'error' | 'end', listener: (error?: unknown) => void): unknown
  on(event: 'notification', listener: (notification: PostgresNotification) => void): unknown
  /** Returns the connection to the pool. `true` closes it. */
  release(shouldDestroy: boolean): void
}

/** A notification on a channel. */
export interface PostgresNotification {
  readonly channel: string
  readonly payload?: string | undefined
}

/** The options of {@link postgresBus}. */
export interface PostgresBusOptions extends NetworkBusOptions {
  /**
   * The channel that every instance of one service has in common, and no other service of the database has. Default:
   * `mcp_changes`.
   */
  readonly channel?: string | undefined
  /**
   * The pool of the listening connection. Default: the same pool. The listening connection needs a session of its own.
   * Give another pool where the first goes through a balancer that shares sessions, such as PgBouncer's transaction
   * pooling.
   */
  readonly listenPool?: PostgresPool | undefined
}

/** PostgreSQL takes a payload of less than 8000 bytes. */
const maxBytes = 7_999

/**
 * A bus over LISTEN and NOTIFY of PostgreSQL. It publishes through the application's own pool, and keeps one connection
 * of it while it has listeners.
 *
 * Publishing rejects with {@link BusError} `unavailable` when PostgreSQL cannot be reached in time, and with
 * `too_large` for data that exceeds a payload of 7999 bytes. A topic that exceeds it notifies all listeners of a gap
 * instead. When the listening connection is lost, another is opened after a growing pause, and all listeners are
 * notified of a gap. Give the pool an `error` listener: without one, `pg` ends the process when an idle connection
 * breaks. The pool's `max` has to be at least 2, and `pool.end()` waits until the bus has no listeners.
 *
 * @throws BusError with `option` for an invalid channel, and RangeError for an invalid time.
 */
export function postgresBus(pool: PostgresPool, options: PostgresBusOptions = {}): ChangeBus {
  const { timeoutMs = defaultTimeoutMs, listenPool = pool } = options
  const channel = requirePostgresChannel(options.channel ?? 'mcp_changes')
  handleConnectionErrors(pool)
  handleConnectionErrors(listenPool)
  const batchSender = createBatchSender(
    // One transaction keeps the order. `pg_notify` takes the name as a value. The commit does not wait for the
    // disk, since a message does not outlive the server anyway.
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
        `${maxWaitingCharacters} characters of changes wait for PostgreSQL already: publish fewer`,
      ),
  )
  return createNetworkBus(
    {
      name: 'PostgreSQL',
      maxMessageBytes: maxBytes,
      connect: connectPostgres(listenPool, { channel, timeoutMs }),
      send: batchSender.send,
      ping: () => pool.query({ text: 'SELECT 1', query_timeout: timeoutMs }),
      advice: 'is it running, and is a connection of the pool free besides the one that listens?',
    },
    options,
  )
}

function connectPostgres(
  pool: PostgresPool,
  listenOptions: { readonly channel: string; readonly timeoutMs: number },
): ConnectFunction {
  const { channel, timeoutMs } = listenOptions
  return async ({ handleMessage, handleLoss }, signal) => {
    const connection = await pool.connect()
    // The connection is closed and not returned to the pool: it still listens to the channel, and has listeners
    // attached.
    const releaseConnection = (): void => connection.release(true)
    // A pool cannot stop an attempt to connect, so a connection may arrive after the abort.
    if (signal.aborted) {
      releaseConnection()
      throw signal.reason
    }
    signal.addEventListener('abort', releaseConnection)
    // A connection without this listener ends the process with its first error.
    connection.on('error', handleLoss)
    connection.on('end', () => handleLoss(new Error('The connection has ended')))
    connection.on('notification', (notification) => {
      // The pool may have used the connection before, so that it also listens to channels of the application.
      if (notification.channel === channel) handleMessage(notification.payload ?? '')
    })
    // LISTEN takes no parameters, so the channel name was checked against a grammar, and is quoted.
    await connection.query({ text: `LISTEN "${channel}"`, query_timeout: timeoutMs })
    return { ping: () => connection.query({ text: 'SELECT 1', query_timeout: timeoutMs }) }
  }
}

function requirePostgresChannel(channel: string): string {
  if (/^[a-z_][a-z0-9_]{0,62}$/.test(channel)) return channel
  const rule = 'use up to 63 small letters, digits and underscores, as in mcp_changes'
  throw new BusError('option', `channel is ${JSON.stringify(channel)}: ${rule}`)
}

/** The part of a connection that is needed to handle its errors. */
interface ObservableConnection {
  on(event: 'error', listener: (error?: unknown) => void): unknown
}

/** A pool that announces each connection that it opens, before any caller gets it. */
interface ObservablePool<C extends ObservableConnection> {
  on?(event: 'connect', listener: (connection: C) => void): unknown
}

/** The pools that have a listener already. Buses and engines may share a pool. */
const watchedPools = new WeakSet<object>()

/**
 * Handles the errors of a pool's connections from their beginning. A database that is being stopped may accept a
 * connection and end it with the same packet. The error then comes before the caller has the connection, and an
 * unhandled one ends the process.
 */
function handleConnectionErrors<C extends ObservableConnection>(pool: ObservablePool<C>): void {
  if (watchedPools.has(pool)) return
  watchedPools.add(pool)
  // The caller finds the connection broken: its next query rejects.
  pool.on?.('connect', (connection) => void connection.on('error', () => {}))
}
