/** The part of a connection that is needed to handle its errors. */
export interface ObservableConnection {
  on(event: 'error', listener: (error?: unknown) => void): unknown
}

/** A pool that announces each connection that it opens, before any caller gets it. */
export interface ObservablePool<C extends ObservableConnection> {
  on?(event: 'connect', listener: (connection: C) => void): unknown
}

/** The pools that are handled already: one listener for each, however many buses and engines share it. */
const watchedPools = new WeakSet<object>()

/**
 * Handles the errors of a pool's connections from their beginning. A database that is being stopped may accept a
 * connection and end it with the same packet. The error then comes before the caller has the connection, and an
 * unhandled one ends the process.
 */
export function watchConnections<C extends ObservableConnection>(pool: ObservablePool<C>): void {
  if (watchedPools.has(pool)) return
  watchedPools.add(pool)
  // The caller finds the connection broken: its next query rejects.
  pool.on?.('connect', (connection) => void connection.on('error', () => {}))
}
