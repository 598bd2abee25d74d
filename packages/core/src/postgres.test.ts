import { EventEmitter, once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { type RealPostgres, startPostgres } from '@tooling/real-servers/postgres'
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type PostgresConnection, type PostgresPool, postgresBus } from './postgres.ts'

const nobody = { onChange: () => {}, onGap: () => {} }
const unavailable = expect.objectContaining({ code: 'unavailable' })

/**
 * A connection that breaks: an emitter, which throws an `error` that nobody hears, whose queries reject from then on.
 */
function brokenConnection(): PostgresConnection & EventEmitter {
  const query = (): Promise<never> => Promise.reject(new Error('Connection terminated unexpectedly'))
  return Object.assign(new EventEmitter(), { query, release: () => {} })
}

interface BreakingPool extends PostgresPool {
  /** What would have ended the process. */
  readonly unheard: unknown[]
  listenerCount(event: string): number
}

/** A pool that opens connections as `pg` does: it tells of one, and whoever asked for it gets it a turn later. */
function breakingPool(): BreakingPool {
  const pool = new EventEmitter()
  const unheard: unknown[] = []
  const connect = async (): Promise<PostgresConnection> => {
    const connection = brokenConnection()
    pool.emit('connect', connection)
    try {
      connection.emit('error', new Error('terminating connection due to administrator command'))
    } catch (error) {
      unheard.push(error)
    }
    await Promise.resolve()
    return connection
  }
  return Object.assign(pool, { unheard, connect, query: async () => (await connect()).query({ text: 'SELECT 1' }) })
}

describe('a connection that breaks before the pool returns it', () => {
  test('costs what it was for, and not the process', async () => {
    const pool = breakingPool()
    const bus = postgresBus(pool)
    await expect(bus.publish({ topic: 'tools' })).rejects.toThrow(unavailable)
    await expect(bus.listen(nobody)).rejects.toThrow(unavailable)
    expect(pool.unheard).toEqual([])
  })

  test('may be of the pool that listens alone', async () => {
    const [pool, listenPool] = [breakingPool(), breakingPool()]
    const bus = postgresBus(pool, { listenPool })
    await expect(bus.listen(nobody)).rejects.toThrow(unavailable)
    await expect(bus.publish({ topic: 'tools' })).rejects.toThrow(unavailable)
    expect([pool.unheard, listenPool.unheard]).toEqual([[], []])
  })

  test('has one listener, however many buses share its pool', async () => {
    const pool = breakingPool()
    for (const channel of ['one', 'two', 'three']) postgresBus(pool, { channel })
    expect(pool.listenerCount('connect')).toBe(1)
  })

  test('is looked for in vain at a pool that does not tell of its connections, which serves all the same', async () => {
    const query = async (): Promise<unknown> => ({ rows: [] })
    const bus = postgresBus({ query, connect: async () => ({ query, on: () => {}, release: () => {} }) })
    await bus.publish({ topic: 'tools' })
    const stop = await bus.listen(nobody)
    stop()
  })
})

/** A message of PostgreSQL's protocol: a letter, a length and what it is about. */
function message(letter: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length + 4)
  return Buffer.concat([Buffer.from(letter), length, body])
}

/** Says yes to whoever comes and ends the connection, all in one packet, as a server does that is being stopped. */
const stopping = Buffer.concat([
  message('R', Buffer.alloc(4)),
  message('Z', Buffer.from('I')),
  message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0')),
])

describe('a server that takes a connection and ends it with the same packet', () => {
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

  test('does not end the process of a bus over `pg`', async () => {
    const bus = postgresBus(pool)
    for (let times = 0; times < 5; times++) {
      await expect(bus.publish({ topic: 'tools' })).rejects.toThrow(unavailable)
      await expect(bus.listen(nobody)).rejects.toThrow(unavailable)
    }
  })
})

describe('a server that is stopped while connections are made', () => {
  let server: RealPostgres
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.close())

  test('costs what they were for, and the bus is there when the server is', async () => {
    const pool = server.pool({ max: 20, idleTimeoutMillis: 1 })
    const bus = postgresBus(pool)
    for (let times = 0; times < 3; times++) {
      const connecting = Array.from({ length: 20 }, () => bus.listen(nobody).then((stop) => stop()))
      const stopped = server.kill()
      const asking = Array.from({ length: 20 }, () => pool.query('SELECT 1'))
      await Promise.allSettled([...connecting, ...asking, stopped])
      await server.restart()
    }
    await bus.publish({ topic: 'tools' })
    await pool.end()
  })
})
