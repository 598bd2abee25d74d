import { EventEmitter } from 'node:events'
import type { PostgresConnection, PostgresPool } from '@x/server/postgres'
import { describe, expect, test } from 'vitest'
import { createPoolDatabase } from './pool-database.ts'

/** A connection that breaks with its second query. An emitter throws an `error` event that has no listener. */
function breakingConnection(released: boolean[]): PostgresConnection {
  const emitter = new EventEmitter()
  let queries = 0
  const query = async (): Promise<unknown> => {
    queries += 1
    if (queries === 1) return { rows: [] }
    emitter.emit('error', new Error('terminating connection due to administrator command'))
    throw new Error('Connection terminated unexpectedly')
  }
  return Object.assign(emitter, { query, release: (destroy: boolean) => void released.push(destroy) })
}

/**
 * A pool whose connections were opened before the engine could listen for them, like the pool of a running application.
 */
function olderPool(connection: PostgresConnection): PostgresPool {
  return { query: (query) => connection.query(query), connect: async () => connection }
}

const settings = { channel: 'mcp_tasks', timeoutMs: 1000, onError: () => {}, end: async () => {} }

describe('a connection that breaks in the middle of a transaction', () => {
  test('rejects the transaction, does not end the process, and is not returned to the pool', async () => {
    const released: boolean[] = []
    const pool = olderPool(breakingConnection(released))
    const database = createPoolDatabase({ ...settings, pool, listenPool: pool })
    await expect(database.transaction((query) => query('SELECT 1'))).rejects.toThrow('Connection terminated')
    expect(released).toEqual([true])
  })
})

test('a connection that is used for many transactions has one listener for its errors', async () => {
  const emitter = new EventEmitter()
  const query = async (): Promise<unknown> => ({ rows: [{ one: 1 }] })
  const pool = olderPool(Object.assign(emitter, { query, release: () => {} }))
  const database = createPoolDatabase({ ...settings, pool, listenPool: pool })
  for (let times = 0; times < 20; times++) await database.transaction((ask) => ask('SELECT 1'))
  expect(emitter.listenerCount('error')).toBe(1)
})
