/** What is used of a connection to keep its errors from ending the process. */
export interface TellingConnection {
  on(event: 'error', listener: (error?: unknown) => void): unknown
}

/** A pool that tells of each connection that it opens, before anybody gets it. */
export interface TellingPool<C extends TellingConnection> {
  on?(event: 'connect', listener: (connection: C) => void): unknown
}

/** The pools that are heard already: one listener for each, however many buses and engines share it. */
const heardPools = new WeakSet<object>()

/**
 * Has a pool's connections heard from their beginning on. A database that is being stopped may take a connection and end it with the
 * same packet: then its error comes before whoever waits for the connection has got it, and an error that nobody hears ends the process.
 */
export function hearConnections<C extends TellingConnection>(pool: TellingPool<C>): void {
  if (heardPools.has(pool)) return
  heardPools.add(pool)
  // Whoever uses the connection finds it broken: its next query rejects.
  pool.on?.('connect', (connection) => void connection.on('error', () => {}))
}
