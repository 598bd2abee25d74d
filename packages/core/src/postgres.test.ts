import { EventEmitter, once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { type RealPostgres, startPostgres } from '@tooling/real-servers/postgres'
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type PostgresConnection, type PostgresPool, postgresBus } from './postgres.ts'

const listener = { onChange: () => {}, onGap: () => {} }
const unavailable = expect.objectContaining({ code: 'unavailable' })

/** A broken connection: an emitter, which throws an `error` event that has no listener. Its queries reject. */
function brokenConnection(): PostgresConnection & EventEmitter {
  const query = (): Promise<never> => Promise.reject(new Error('Connection terminated unexpectedly'))
  return Object.assign(new EventEmitter(), { query, release: () => {} })
}

interface BreakingPool extends PostgresPool {
  /** The errors without a listener, which would end the process. */
  readonly unhandledErrors: unknown[]
  listenerCount(event: string): number
}

/**
 * A pool that opens connections like `pg`: it emits `connect`, and the caller receives the connection one tick later.
 */
function breakingPool(): BreakingPool {
  const pool = new EventEmitter()
  const unhandledErrors: unknown[] = []
  const connect = async (): Promise<PostgresConnection> => {
    const connection = brokenConnection()
    pool.emit('connect', connection)
    try {
      connection.emit('error', new Error('terminating connection due to administrator command'))
    } catch (error) {
      unhandledErrors.push(error)
    }
    await Promise.resolve()
    return connection
  }
  return Object.assign(pool, {
    unhandledErrors,
    connect,
    query: async () => (await connect()).query({ text: 'SELECT 1' }),
  })
}

test('an idle connection that breaks does not end the process, be its pool that of the bus or the one that listens', () => {
  const [pool, listenPool] = [breakingPool(), breakingPool()]
  postgresBus(pool, { listenPool })
  postgresBus(pool)
  expect([pool.listenerCount('error'), listenPool.listenerCount('error')]).toEqual([1, 1])
})

describe('a connection that breaks before the pool returns it', () => {
  test('rejects the operation and does not end the process', async () => {
    const pool = breakingPool()
    const bus = postgresBus(pool)
    await expect(bus.publish({ topic: 'tools' })).rejects.toThrow(unavailable)
    await expect(bus.listen(listener)).rejects.toThrow(unavailable)
    expect(pool.unhandledErrors).toEqual([])
  })

  test('has an error listener also in a separate pool that listens', async () => {
    const [pool, listenPool] = [breakingPool(), breakingPool()]
    const bus = postgresBus(pool, { listenPool })
    await expect(bus.listen(listener)).rejects.toThrow(unavailable)
    await expect(bus.publish({ topic: 'tools' })).rejects.toThrow(unavailable)
    expect([pool.unhandledErrors, listenPool.unhandledErrors]).toEqual([[], []])
  })

  test('gets one error listener, for any number of buses that share the pool', async () => {
    const pool = breakingPool()
    for (const channel of ['one', 'two', 'three']) postgresBus(pool, { channel })
    expect(pool.listenerCount('connect')).toBe(1)
  })

  test('has no error listener with a pool that emits no `connect`, and the bus works with that pool', async () => {
    const query = async (): Promise<unknown> => ({ rows: [] })
    const bus = postgresBus({ query, connect: async () => ({ query, on: () => {}, release: () => {} }) })
    await bus.publish({ topic: 'tools' })
    const stop = await bus.listen(listener)
    stop()
  })
})

/** A message of PostgreSQL's protocol: a letter, a length and the body. */
function message(letter: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length + 4)
  return Buffer.concat([Buffer.from(letter), length, body])
}

/** Accepts a connection and ends it in one packet, like a server that is shutting down. */
const stopping = Buffer.concat([
  message('R', Buffer.alloc(4)),
  message('Z', Buffer.from('I')),
  message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0')),
])

describe('a server that accepts a connection and ends it in the same packet', () => {
  let server: Server
  let pool: Pool
  beforeAll(async () => {
    server = createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.end(stopping))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0
    pool = new Pool({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' })
    pool.on('error', () => {})
  })
  afterAll(async () => {
    await pool.end()
    server.close()
  })

  test('rejects each operation of a bus over `pg` and does not end the process', async () => {
    const bus = postgresBus(pool)
    for (let times = 0; times < 5; times++) {
      await expect(bus.publish({ topic: 'tools' })).rejects.toThrow(unavailable)
      await expect(bus.listen(listener)).rejects.toThrow(unavailable)
    }
  })
})

describe('a server that stops while connections are being opened', () => {
  let server: RealPostgres
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.close())

  test('rejects their operations, and the bus works again after the restart', async () => {
    const pool = server.pool({ max: 20, idleTimeoutMillis: 1 })
    const bus = postgresBus(pool)
    for (let times = 0; times < 3; times++) {
      const connecting = Array.from({ length: 20 }, () => bus.listen(listener).then((stop) => stop()))
      const stopped = server.kill()
      const querying = Array.from({ length: 20 }, () => pool.query('SELECT 1'))
      await Promise.allSettled([...connecting, ...querying, stopped])
      await server.restart()
    }
    await bus.publish({ topic: 'tools' })
    await pool.end()
  })
})
