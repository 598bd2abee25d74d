import { once } from 'node:events'
import { connect } from 'node:net'
import { PGlite } from '@electric-sql/pglite'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ServedDatabase, serveDatabase } from './serve-database.ts'

let database: PGlite
let served: ServedDatabase
beforeAll(async () => {
  database = await PGlite.create()
  served = await serveDatabase(database)
})
afterAll(async () => {
  await served.close()
  await database.close()
})

/** Opens a client that disconnects at the end of its scope. */
async function client(port = served.port): Promise<pg.Client & AsyncDisposable> {
  const one = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' })
  one.on('error', () => {})
  await one.connect()
  return Object.assign(one, { [Symbol.asyncDispose]: () => one.end() })
}

test('prepared queries of many clients at once do not mix, which each get their own answers', async () => {
  const pool = new pg.Pool({ host: '127.0.0.1', port: served.port, user: 'postgres', database: 'postgres', max: 10 })
  const texts = ['SELECT $1::int AS a', 'SELECT $1::int AS a, $2::text AS b', 'SELECT $1::int AS a WHERE $1::int < 0']
  const answers = await Promise.all(
    Array.from({ length: 90 }, async (_, index) => {
      const values = index % 3 === 1 ? [index, `text ${index}`] : [index]
      const { rows } = await pool.query(texts[index % 3] ?? '', values)
      return rows
    }),
  )
  await pool.end()
  expect(answers).toEqual(
    answers.map((_, index) => [[{ a: index }], [{ a: index, b: `text ${index}` }], []][index % 3]),
  )
})

test('a query that fails is its own client’s alone', async () => {
  await using one = await client()
  await using other = await client()
  const [failed, fine] = await Promise.allSettled([one.query('SELECT $1::int / 0', [1]), other.query('SELECT 1 AS a')])
  expect(failed).toMatchObject({ reason: { code: '22012' } })
  expect(fine).toMatchObject({ value: { rows: [{ a: 1 }] } })
  expect((await one.query('SELECT 2 AS a')).rows).toEqual([{ a: 2 }])
})

test('no client sees the changes of an open transaction of another client', async () => {
  await using one = await client()
  await using other = await client()
  await one.query('CREATE TABLE seen (a int)')
  await one.query('BEGIN')
  const read = other.query('SELECT count(*)::int AS a FROM seen')
  await one.query('INSERT INTO seen VALUES ($1)', [1])
  await one.query('INSERT INTO seen VALUES ($1)', [2])
  await one.query('COMMIT')
  expect((await read).rows).toEqual([{ a: 2 }])
})

test('the transaction of a client that dies is taken back', async () => {
  await using other = await client()
  const dying = await client()
  await dying.query('CREATE TABLE lost (a int)')
  await dying.query('BEGIN; INSERT INTO lost VALUES (1)')
  const read = other.query('SELECT count(*)::int AS a FROM lost')
  // Simulates the connection of a killed process.
  dying.connection.stream.destroy()
  expect((await read).rows).toEqual([{ a: 0 }])
})

test('so is that of a client that says nothing more, and it is cut off', async () => {
  const own = await serveDatabase(database, { maxIdleMs: 50 })
  const silent = await client(own.port)
  const other = await client(own.port)
  await silent.query('BEGIN; CREATE TABLE never (a int)')
  const ended = new Promise((resolve) => silent.once('end', resolve))
  expect((await other.query("SELECT to_regclass('never') AS a")).rows).toEqual([{ a: null }])
  await ended
  await other.end()
  await own.close()
})

test('a client that listens receives a notification of another client after its commit', async () => {
  await using one = await client()
  await using other = await client()
  await one.query('LISTEN "tasks"')
  const notified = once(one, 'notification')
  await other.query('SELECT pg_notify($1, $2)', ['tasks', 'work'])
  expect(await notified).toMatchObject([{ channel: 'tasks', payload: 'work' }])
})

test('a client that does not speak the protocol is disconnected, and other clients are served', async () => {
  const stranger = connect(served.port, '127.0.0.1')
  stranger.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  stranger.resume()
  await once(stranger, 'close')
  await using one = await client()
  expect((await one.query('SELECT 1 AS a')).rows).toEqual([{ a: 1 }])
})
